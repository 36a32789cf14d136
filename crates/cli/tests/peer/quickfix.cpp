// A counterparty on QuickFIX for C++: obeys lines on standard input, and says on standard output what happened.
//
// quickfix SETTINGS acceptor|initiator
//   in:  send COUNT PREFIX | logout | logon | disconnect | reset | sender N | target N | numbers | test | quit
//   out: ready | logon S | logout S | admin in|out MESSAGE | app in|out TYPE NUMBER ID DUP | numbers OUT IN
// Each command is for every session of the settings.

#include <quickfix/Application.h>
#include <quickfix/FileStore.h>
#include <quickfix/Log.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>
#include <quickfix/SocketInitiator.h>

#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>

static std::mutex lock;

static void say(const std::string& line)
{
  std::lock_guard<std::mutex> hold(lock);
  std::cout << line << std::endl;
}

static std::string shown(const FIX::Message& message)
{
  std::string text = message.toString();
  for (char& byte : text) if (byte == '\001') byte = '|';
  return text;
}

static std::string field(const FIX::FieldMap& map, int tag)
{
  return map.isSetField(tag) ? map.getField(tag) : "-";
}

static std::string short_form(const FIX::Message& message)
{
  const FIX::Header& header = message.getHeader();
  return field(header, 35) + " " + field(header, 34) + " " + field(message, 11) + " " + field(header, 43);
}

struct Peer : FIX::Application
{
  void onCreate(const FIX::SessionID&) {}
  void onLogon(const FIX::SessionID& id) { say("logon " + id.toString()); }
  void onLogout(const FIX::SessionID& id) { say("logout " + id.toString()); }
  void toAdmin(FIX::Message& message, const FIX::SessionID&) { say("admin out " + shown(message)); }
  void toApp(FIX::Message& message, const FIX::SessionID&) throw(FIX::DoNotSend) { say("app out " + short_form(message)); }
  void fromAdmin(const FIX::Message& message, const FIX::SessionID&)
    throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::RejectLogon)
  {
    say("admin in " + shown(message));
  }
  void fromApp(const FIX::Message& message, const FIX::SessionID&)
    throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::UnsupportedMessageType)
  {
    say("app in " + short_form(message));
  }
};

static FIX::Message order(const FIX::SessionID& id, const std::string& name)
{
  FIX::Message message;
  message.getHeader().setField(8, id.getBeginString().getString());
  message.getHeader().setField(35, "D");
  message.setField(11, name);
  message.setField(21, "1");
  message.setField(38, "100");
  message.setField(40, "1");
  message.setField(54, "1");
  message.setField(55, "MSFT");
  message.setField(60, "20260105-10:00:00");
  return message;
}

static void obey(const std::string& line, const FIX::SessionID& id)
{
  FIX::Session* session = FIX::Session::lookupSession(id);
  if (!session) return;
  std::istringstream words(line);
  std::string verb;
  words >> verb;
  if (verb == "send")
  {
    int count = 0;
    std::string prefix;
    words >> count >> prefix;
    for (int number = 1; number <= count; ++number)
    {
      FIX::Message message = order(id, prefix + std::to_string(number));
      FIX::Session::sendToTarget(message, id);
    }
    say("sent " + std::to_string(count));
  }
  else if (verb == "logout") session->logout();
  else if (verb == "logon") session->logon();
  else if (verb == "disconnect") session->disconnect();
  else if (verb == "reset") session->reset();
  else if (verb == "sender") { int number = 0; words >> number; session->setNextSenderMsgSeqNum(number); }
  else if (verb == "target") { int number = 0; words >> number; session->setNextTargetMsgSeqNum(number); }
  else if (verb == "numbers")
    say("numbers " + std::to_string(session->getExpectedSenderNum()) + " " + std::to_string(session->getExpectedTargetNum()));
  else if (verb == "test")
  {
    FIX::Message message;
    message.getHeader().setField(8, id.getBeginString().getString());
    message.getHeader().setField(35, "1");
    message.setField(112, "PEER");
    FIX::Session::sendToTarget(message, id);
  }
}

template <typename Side> static void serve(Side& side, const FIX::SessionSettings& settings)
{
  side.start();
  say("ready");
  std::string line;
  while (std::getline(std::cin, line) && line != "quit")
    for (const FIX::SessionID& id : settings.getSessions()) obey(line, id);
  side.stop(true);
}

int main(int count, char** words)
{
  if (count != 3) return 2;
  try
  {
    FIX::SessionSettings settings(words[1]);
    Peer peer;
    FIX::FileStoreFactory stores(settings);
    if (std::string(words[2]) == "acceptor")
    {
      FIX::SocketAcceptor side(peer, stores, settings);
      serve(side, settings);
    }
    else
    {
      FIX::SocketInitiator side(peer, stores, settings);
      serve(side, settings);
    }
  }
  catch (std::exception& error)
  {
    std::cerr << error.what() << std::endl;
    return 1;
  }
  return 0;
}
