import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Locale;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.HdrHistogram.HistogramLogWriter;

/** HdrHistogram's Java library next to perfkit: as hdr.py, with tags. */
public final class Hdr {
    private static final long HIGHEST = 3_600_000_000_000L;
    private static final String[] TAGS = {"response", "level_3-service"};

    private static Histogram recorded(int tag, int interval) {
        Histogram histogram = new Histogram(1, HIGHEST, 3);
        for (long nth = 0; nth < 1000; nth++) {
            histogram.recordValue(1000 + tag * 7 + interval * 50_000L + nth * nth);
        }
        return histogram;
    }

    private static void writeLog(String path) throws Exception {
        try (PrintStream file = new PrintStream(path)) {
            HistogramLogWriter log = new HistogramLogWriter(file);
            log.outputLogFormatVersion();
            log.outputStartTime(1_700_000_000_250L);
            log.outputBaseTime(1_700_000_000_250L);
            log.setBaseTime(1_700_000_000_250L);
            log.outputLegend();
            for (int interval = 0; interval < 5; interval++) {
                for (int tag = 0; tag < TAGS.length; tag++) {
                    Histogram histogram = recorded(tag, interval);
                    histogram.setTag(TAGS[tag]);
                    histogram.setStartTimeStamp(1_700_000_000_250L + interval * 1000L);
                    histogram.setEndTimeStamp(1_700_000_000_250L + interval * 1000L + 1000L);
                    log.outputIntervalHistogram(histogram);
                }
            }
        }
    }

    private static void readLog(String path) throws Exception {
        HistogramLogReader log = new HistogramLogReader(path);
        while (log.hasNext()) {
            EncodableHistogram next = log.nextIntervalHistogram();
            if (next == null) {
                break;
            }
            Histogram found = (Histogram) next;
            double start = found.getStartTimeStamp() / 1000.0 - log.getStartTimeSec();
            double length = (found.getEndTimeStamp() - found.getStartTimeStamp()) / 1000.0;
            System.out.printf(Locale.ROOT, "%s %.2f %.2f %d %d %d %d %d%n", found.getTag(), start, length,
                found.getTotalCount(), found.getMinValue(), found.getMaxValue(),
                found.getValueAtPercentile(50.0), found.getValueAtPercentile(99.0));
        }
        System.out.printf(Locale.ROOT, "start %.3f%n", log.getStartTimeSec());
    }

    private static void writeHgrm(String path) throws Exception {
        Histogram sum = new Histogram(1, HIGHEST, 3);
        for (int interval = 0; interval < 5; interval++) {
            sum.add(recorded(0, interval));
        }
        try (PrintStream file = new PrintStream(path)) {
            sum.outputPercentileDistribution(file, 1000.0);
        }
        say(sum);
    }

    private static void decode() throws Exception {
        byte[] bytes = Base64.getDecoder().decode(new String(System.in.readAllBytes()).trim());
        say(Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(bytes), 0));
    }

    private static void say(Histogram of) {
        System.out.println(of.getTotalCount() + " " + of.getMaxValue() + " " + of.getValueAtPercentile(99.0));
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "write-log" -> writeLog(arguments[1]);
            case "read-log" -> readLog(arguments[1]);
            case "write-hgrm" -> writeHgrm(arguments[1]);
            default -> decode();
        }
    }
}
