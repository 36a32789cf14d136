package main

import "encoding/hex"

const uuidBytes = 36

// random is SplitMix64, as on the other side: what is measured is the codec, not a source of entropy.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uuidText appends random UUIDs as text, cut at size bytes.
func uuidText(text []byte, size int, seed, producer, nth uint64) []byte {
	r := random(seed ^ producer*0xd6e8feb86659fd93)
	r = random(r.next() ^ nth*0xa0761d6478bd642f)
	for len(text) < size {
		var raw [16]byte
		high, low := r.next(), r.next()
		for at := 0; at < 8; at++ {
			raw[at] = byte(high >> (56 - 8*at))
			raw[8+at] = byte(low >> (56 - 8*at))
		}
		raw[6] = raw[6]&0x0f | 0x40
		raw[8] = raw[8]&0x3f | 0x80
		var uuid [uuidBytes]byte
		hex.Encode(uuid[:8], raw[:4])
		hex.Encode(uuid[9:13], raw[4:6])
		hex.Encode(uuid[14:18], raw[6:8])
		hex.Encode(uuid[19:23], raw[8:10])
		hex.Encode(uuid[24:], raw[10:])
		uuid[8], uuid[13], uuid[18], uuid[23] = '-', '-', '-', '-'
		text = append(text, uuid[:]...)
	}
	return text[:size]
}
