// An acceptor of QuickFIX that returns orders, for `cargo xtask peers fix-session`.
//
//   quickfix-session PORT SESSIONS DICTIONARY [FOLDER]
//
// It accepts sessions of FIX 4.4 of SERVER with C1, C2 and so on, on 127.0.0.1. With a folder their messages are kept in
// files, otherwise in memory. It keeps no logs. It says `ready`, and ends when its standard input does.

#include <quickfix/Application.h>
#include <quickfix/FileStore.h>
#include <quickfix/MessageStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>

#include <iostream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>

namespace {

struct Echo : FIX::Application {
    void onCreate(const FIX::SessionID&) {}
    void onLogon(const FIX::SessionID&) {}
    void onLogout(const FIX::SessionID&) {}
    void toAdmin(FIX::Message&, const FIX::SessionID&) {}
    void toApp(FIX::Message&, const FIX::SessionID&) throw(FIX::DoNotSend) {}
    void fromAdmin(const FIX::Message&, const FIX::SessionID&)
        throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::RejectLogon) {}
    void fromApp(const FIX::Message& message, const FIX::SessionID& id)
        throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::UnsupportedMessageType) {
        FIX::Message answer(message);
        FIX::Session::sendToTarget(answer, id);
    }
};

std::string settings(const char* port, int sessions, const char* dictionary, const char* folder) {
    std::ostringstream text;
    text << "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=" << port
         << "\nSocketAcceptAddress=127.0.0.1\nSocketReuseAddress=Y\nSocketNodelay=Y\n"
            "StartTime=00:00:00\nEndTime=00:00:00\nBeginString=FIX.4.4\nSenderCompID=SERVER\n"
            "UseDataDictionary=Y\nDataDictionary="
         << dictionary << "\n";
    if (folder) text << "FileStorePath=" << folder << "\n";
    for (int session = 1; session <= sessions; ++session) {
        text << "[SESSION]\nTargetCompID=C" << session << "\n";
    }
    return text.str();
}

} // namespace

int main(int count, char** words) {
    if (count != 4 && count != 5) {
        std::cerr << "usage: quickfix-session PORT SESSIONS DICTIONARY [FOLDER]" << std::endl;
        return 2;
    }
    try {
        const char* folder = count == 5 ? words[4] : nullptr;
        std::istringstream text(settings(words[1], std::stoi(words[2]), words[3], folder));
        FIX::SessionSettings settings(text);
        Echo echo;
        std::unique_ptr<FIX::MessageStoreFactory> stores;
        if (folder) stores.reset(new FIX::FileStoreFactory(settings));
        else stores.reset(new FIX::MemoryStoreFactory());
        FIX::SocketAcceptor acceptor(echo, *stores, settings);
        acceptor.start();
        std::cout << "ready" << std::endl;
        std::cin.ignore(std::numeric_limits<std::streamsize>::max());
        acceptor.stop(true);
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
