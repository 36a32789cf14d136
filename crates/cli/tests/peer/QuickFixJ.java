// A counterparty on QuickFIX/J: the same commands and lines as quickfix.cpp.

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.util.Iterator;
import quickfix.*;

public class QuickFixJ implements Application {
    static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    static String shown(Message message) {
        return message.toString().replace('\001', '|');
    }

    static String field(FieldMap map, int tag) {
        try {
            return map.isSetField(tag) ? map.getString(tag) : "-";
        } catch (FieldNotFound error) {
            return "-";
        }
    }

    static String shortForm(Message message) {
        FieldMap header = message.getHeader();
        return field(header, 35) + " " + field(header, 34) + " " + field(message, 11) + " " + field(header, 43);
    }

    public void onCreate(SessionID id) {}
    public void onLogon(SessionID id) { say("logon " + id); }
    public void onLogout(SessionID id) { say("logout " + id); }
    public void toAdmin(Message message, SessionID id) { say("admin out " + shown(message)); }
    public void toApp(Message message, SessionID id) { say("app out " + shortForm(message)); }
    public void fromAdmin(Message message, SessionID id) { say("admin in " + shown(message)); }
    public void fromApp(Message message, SessionID id) { say("app in " + shortForm(message)); }

    static Message order(SessionID id, String name) {
        Message message = new Message();
        message.getHeader().setString(8, id.getBeginString());
        message.getHeader().setString(35, "D");
        message.setString(11, name);
        message.setString(21, "1");
        message.setString(38, "100");
        message.setString(40, "1");
        message.setString(54, "1");
        message.setString(55, "MSFT");
        message.setString(60, "20260105-10:00:00");
        return message;
    }

    static void obey(String line, SessionID id) throws Exception {
        Session session = Session.lookupSession(id);
        if (session == null) return;
        String[] words = line.split(" ");
        switch (words[0]) {
            case "send":
                int count = Integer.parseInt(words[1]);
                for (int number = 1; number <= count; ++number) {
                    Session.sendToTarget(order(id, words[2] + number), id);
                }
                say("sent " + count);
                break;
            case "logout": session.logout(); break;
            case "logon": session.logon(); break;
            case "disconnect": session.disconnect("asked", false); break;
            case "reset": session.reset(); break;
            case "sender": session.setNextSenderMsgSeqNum(Integer.parseInt(words[1])); break;
            case "target": session.setNextTargetMsgSeqNum(Integer.parseInt(words[1])); break;
            case "numbers":
                say("numbers " + session.getExpectedSenderNum() + " " + session.getExpectedTargetNum());
                break;
            case "test": session.generateTestRequest("PEER"); break;
            default: break;
        }
    }

    public static void main(String[] words) throws Exception {
        SessionSettings settings = new SessionSettings(new FileInputStream(words[0]));
        QuickFixJ peer = new QuickFixJ();
        FileStoreFactory stores = new FileStoreFactory(settings);
        MessageFactory messages = new DefaultMessageFactory();
        LogFactory logs = new ScreenLogFactory(false, false, false);
        Connector side = words[1].equals("acceptor")
            ? new SocketAcceptor(peer, stores, settings, logs, messages)
            : new SocketInitiator(peer, stores, settings, logs, messages);
        side.start();
        say("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        String line;
        while ((line = input.readLine()) != null && !line.equals("quit")) {
            for (Iterator<SessionID> ids = settings.sectionIterator(); ids.hasNext();) {
                obey(line, ids.next());
            }
        }
        side.stop(true);
    }
}
