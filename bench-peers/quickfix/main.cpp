// QuickFIX in the program that `cargo xtask peers fix` runs beside that of bench-peers/fix: the same
// words, the same sets of messages, the same line of JSON.
//
//   quickfix-peer quickfix|quickfix-dictionary DICTIONARY accept FILE
//   quickfix-peer quickfix|quickfix-dictionary DICTIONARY turn DIRECTORY MILLISECONDS
//   quickfix-peer quickfix|quickfix-dictionary DICTIONARY serve FILE
//
// `serve` reads a number of passes from each line and answers with the nanoseconds that as many parses of the
// whole set took.
//
// A parse is `Message::setString`, which checks BodyLength and CheckSum. With the dictionary it also
// takes groups apart, and `DataDictionary::validate` can follow.

#include <quickfix/DataDictionary.h>
#include <quickfix/Message.h>
#include <quickfix/fix44/NewOrderSingle.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Set = std::vector<std::string>;

// What the optimiser must not believe to be unused.
volatile std::size_t used = 0;

// Messages, each behind its length in 32 bits, the lowest first.
Set read_set(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    Set set;
    for (std::size_t at = 0; at + 4 <= all.size();) {
        std::size_t length = 0;
        for (int byte = 3; byte >= 0; --byte) {
            length = length << 8 | static_cast<unsigned char>(all[at + byte]);
        }
        if (length > all.size() - at - 4) throw std::runtime_error(path + " is cut short");
        set.push_back(all.substr(at + 4, length));
        at += 4 + length;
    }
    if (set.empty()) throw std::runtime_error(path + " has no messages");
    return set;
}

struct Rows {
    int milliseconds;
    std::string text;

    // Times batches of passes over a set, as many passes as take long enough, and adds a row with the
    // middle one of them.
    template <typename Run>
    void add(const std::string& of, const std::string& set, std::size_t messages, Run run,
             const std::string& answer) {
        auto time = [&](std::size_t passes) {
            auto start = std::chrono::steady_clock::now();
            for (std::size_t pass = 0; pass < passes; ++pass) run();
            auto end = std::chrono::steady_clock::now();
            return std::chrono::duration<double, std::nano>(end - start).count();
        };
        std::size_t passes = 1;
        while (time(passes) < milliseconds * 1e6) passes *= 2;
        double batches[5];
        for (double& batch : batches) batch = time(passes);
        std::sort(std::begin(batches), std::end(batches));
        double ns = batches[2] / static_cast<double>(passes * messages);
        text += text.empty() ? "" : ",";
        text += "{\"case\":\"" + of + "\",\"set\":\"" + set + "\",\"ns\":" + std::to_string(ns) +
                ",\"answer\":\"" + answer + "\"}";
    }
};

// One way of parsing: with or without a dictionary.
struct Parser {
    const FIX::DataDictionary* dictionary;
    FIX::Message message;

    bool parse(const std::string& bytes) {
        try {
            message.setString(bytes, true, dictionary);
            return true;
        } catch (const FIX::Exception&) {
            return false;
        }
    }

    bool validate(const std::string& bytes) {
        try {
            message.setString(bytes, true, dictionary);
            dictionary->validate(message);
            return true;
        } catch (const FIX::Exception&) {
            return false;
        }
    }

    const std::string* get(int tag) const {
        const FIX::FieldMap* part = &message;
        if (FIX::Message::isHeaderField(tag)) part = &message.getHeader();
        return part->isSetField(tag) ? &part->getField(tag) : nullptr;
    }
};

const int LOOKUPS[] = {35, 49, 56, 34, 52, 11, 54, 38};

std::string order() {
    FIX44::NewOrderSingle order;
    FIX::Header& header = order.getHeader();
    header.setField(49, "ALPHADESK");
    header.setField(56, "MARKET01");
    header.setField(FIX::MsgSeqNum(31415));
    header.setField(52, "20260305-14:15:16.789");
    order.setField(11, "ORD00000271828");
    order.setField(1, "FUND-0071");
    order.setField(FIX::HandlInst('1'));
    order.setField(55, "MSFT");
    order.setField(FIX::Side('1'));
    order.setField(60, "20260305-14:15:16.789");
    order.setField(FIX::OrderQty(2500));
    order.setField(FIX::OrdType('2'));
    order.setField(FIX::Price(412.75));
    order.setField(FIX::TimeInForce('0'));
    order.setField(207, "XNYS");
    return order.toString();
}

std::string readable(std::string message) {
    for (char& byte : message) {
        if (byte == '\x01') byte = '|';
    }
    return message;
}

void turn(Parser& parser, Rows& rows, const std::string& directory) {
    for (std::string name : {"hb", "nos", "er", "md", "shuffled"}) {
        Set set = read_set(directory + "/" + name);
        std::size_t valid = 0;
        for (const std::string& bytes : set) valid += parser.parse(bytes);
        auto parse = [&] {
            for (const std::string& bytes : set) used = used + parser.parse(bytes);
        };
        rows.add("parse", name, set.size(), parse, std::to_string(valid));
        if (parser.dictionary) {
            valid = 0;
            for (const std::string& bytes : set) valid += parser.validate(bytes);
            auto validate = [&] {
                for (const std::string& bytes : set) used = used + parser.validate(bytes);
            };
            rows.add("validate", name, set.size(), validate, std::to_string(valid));
        }
        if (name == "shuffled") continue;
        std::string found;
        parser.parse(set[0]);
        for (int tag : LOOKUPS) {
            const std::string* value = parser.get(tag);
            found += (value ? *value : "-") + " ";
        }
        auto get = [&] {
            for (const std::string& bytes : set) {
                parser.parse(bytes);
                for (int tag : LOOKUPS) {
                    const std::string* value = parser.get(tag);
                    used = used + (value ? value->size() : 0);
                }
            }
        };
        rows.add("parse, 8 gets", name, set.size(), get, found);
    }
    auto encode = [] { used = used + order().size(); };
    rows.add("encode", "nos", 1, encode, readable(order()));
}

int serve(Parser& parser, const Set& set) {
    std::size_t passes = 0;
    while (std::cin >> passes) {
        auto start = std::chrono::steady_clock::now();
        for (std::size_t pass = 0; pass < passes; ++pass) {
            for (const std::string& bytes : set) used = used + parser.parse(bytes);
        }
        auto end = std::chrono::steady_clock::now();
        std::cout << std::chrono::duration<double, std::nano>(end - start).count() << std::endl;
    }
    return 0;
}

int run(const std::vector<std::string>& words) {
    if (words.size() < 4) throw std::runtime_error("a library, a dictionary and a verb are needed");
    // Reading one takes longer than many turns.
    std::unique_ptr<FIX::DataDictionary> dictionary;
    if (words[0] == "quickfix-dictionary") dictionary.reset(new FIX::DataDictionary(words[1]));
    Parser parser{dictionary.get(), {}};
    if (words[2] == "accept") {
        for (const std::string& bytes : read_set(words[3])) {
            bool taken = parser.dictionary ? parser.validate(bytes) : parser.parse(bytes);
            std::cout << (taken ? '1' : '0');
        }
        std::cout << std::endl;
        return 0;
    }
    if (words[2] == "serve") return serve(parser, read_set(words[3]));
    if (words[2] != "turn" || words.size() != 5) throw std::runtime_error("accept or turn");
    Rows rows{std::stoi(words[4]), ""};
    turn(parser, rows, words[3]);
    std::cout << "{\"rows\":[" << rows.text << "]}" << std::endl;
    return 0;
}

}  // namespace

int main(int count, char** words) {
    try {
        return run(std::vector<std::string>(words + 1, words + count));
    } catch (const std::exception& error) {
        std::cerr << "quickfix-peer: " << error.what() << std::endl;
        return 1;
    }
}
