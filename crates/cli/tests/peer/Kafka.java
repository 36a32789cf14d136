import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Kafka's own client: topics with any settings, and what transactions have stored. */
public final class Kafka {
    private static Properties properties(String servers) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", servers);
        properties.put("isolation.level", "read_committed");
        properties.put("key.deserializer", ByteArrayDeserializer.class.getName());
        properties.put("value.deserializer", ByteArrayDeserializer.class.getName());
        return properties;
    }

    /** Creates each topic of the form NAME,KEY=VALUE. */
    private static void create(String servers, List<String> topics) throws Exception {
        List<NewTopic> all = new ArrayList<>();
        for (String topic : topics) {
            String[] parts = topic.split(",");
            Map<String, String> settings = new HashMap<>();
            for (int at = 1; at < parts.length; at++) {
                String[] pair = parts[at].split("=");
                settings.put(pair[0], pair[1]);
            }
            all.add(new NewTopic(parts[0], 2, (short) 1).configs(settings));
        }
        try (Admin admin = Admin.create(properties(servers))) {
            admin.createTopics(all).all().get();
        }
    }

    /** Prints which block each message of a topic answers, or how long the message is if it answers none. */
    private static void print(String servers, String topic) {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties(servers))) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (PartitionInfo partition : consumer.partitionsFor(topic)) {
                partitions.add(new TopicPartition(topic, partition.partition()));
            }
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            StringBuilder out = new StringBuilder();
            while (partitions.stream().anyMatch(part -> consumer.position(part) < ends.get(part))) {
                for (ConsumerRecord<byte[], byte[]> message : consumer.poll(Duration.ofMillis(100))) {
                    Header stream = message.headers().lastHeader("Perfkit-Stream");
                    Header sequence = message.headers().lastHeader("Perfkit-Sequence");
                    if (stream == null || sequence == null) {
                        out.append(message.value().length).append('\n');
                        continue;
                    }
                    out.append(new String(stream.value())).append(' ');
                    out.append(new String(sequence.value())).append('\n');
                }
            }
            System.out.print(out);
        }
    }

    /** Removes what stands before an offset of each partition, or before its end. */
    private static void remove(String servers, String topic, long offset) throws Exception {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties(servers));
                Admin admin = Admin.create(properties(servers))) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (PartitionInfo partition : consumer.partitionsFor(topic)) {
                partitions.add(new TopicPartition(topic, partition.partition()));
            }
            Map<TopicPartition, RecordsToDelete> before = new HashMap<>();
            consumer.endOffsets(partitions).forEach((partition, end) ->
                before.put(partition, RecordsToDelete.beforeOffset(Math.min(offset, end))));
            admin.deleteRecords(before).all().get();
        }
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("create")) {
            create(args[1], List.of(args).subList(2, args.length));
        } else if (args[0].equals("forget")) {
            try (Admin admin = Admin.create(properties(args[1]))) {
                admin.deleteConsumerGroups(List.of(args[2])).all().get();
            }
        } else if (args[0].equals("remove")) {
            remove(args[1], args[2], Long.parseLong(args[3]));
        } else {
            print(args[1], args[2]);
        }
    }
}
