/**
 * The configuration of a private Cassandra: its files and Java options.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const HOST = '127.0.0.1';
const HEAP = '256m';
/** JDK modules that Cassandra opens for itself (its conf/jvm17-server.options). */
const EXPORTS = [
  'java.base/jdk.internal.misc',
  'java.base/jdk.internal.ref',
  'java.base/sun.nio.ch',
  'java.management.rmi/com.sun.jmx.remote.internal.rmi',
  'java.rmi/sun.rmi.registry',
  'java.rmi/sun.rmi.server',
  'java.sql/java.sql',
];
const OPENS = [
  'java.base/java.lang',
  'java.base/java.lang.module',
  'java.base/java.lang.reflect',
  'java.base/java.io',
  'java.base/java.net',
  'java.base/java.nio',
  'java.base/java.util',
  'java.base/java.util.concurrent',
  'java.base/java.util.concurrent.atomic',
  'java.base/jdk.internal.loader',
  'java.base/jdk.internal.ref',
  'java.base/jdk.internal.reflect',
  'java.base/jdk.internal.math',
  'java.base/jdk.internal.module',
  'java.base/jdk.internal.util.jar',
  'java.base/sun.nio.ch',
  'jdk.management/com.sun.management.internal',
];

/** @param {string} folder */
const filesOf = (folder) => ({
  configuration: join(folder, 'cassandra.yaml'),
  logging: join(folder, 'logback.xml'),
  data: join(folder, 'data'),
  temporary: join(folder, 'tmp'),
});

/**
 * @param {string} folder folder of the server
 * @param {Record<string, number>} ports main: CQL; storage: between nodes
 */
export function writeSettings(folder, ports) {
  const { configuration, logging, temporary } = filesOf(folder);
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  writeFileSync(configuration, writeConfiguration(folder, ports));
  writeFileSync(logging, LOGGING);
}

/**
 * Written as JSON, which is YAML with safe quoting of paths.
 * @param {string} folder
 * @param {Record<string, number>} ports
 */
function writeConfiguration(folder, ports) {
  const { data } = filesOf(folder);
  const seeds = [{ seeds: `${HOST}:${ports['storage']}` }];
  const settings = {
    cluster_name: 'dragstrip',
    num_tokens: 1,
    partitioner: 'org.apache.cassandra.dht.Murmur3Partitioner',
    endpoint_snitch: 'SimpleSnitch',
    seed_provider: [
      { class_name: 'org.apache.cassandra.locator.SimpleSeedProvider', parameters: seeds },
    ],
    auto_bootstrap: false,
    authenticator: 'org.apache.cassandra.auth.PasswordAuthenticator',
    // A changed password takes effect at once. Roles keep the default of two seconds: without
    // their cache each statement reads them, and one in a batch takes ten times as long.
    credentials_validity: '0ms',
    listen_address: HOST,
    storage_port: ports['storage'],
    rpc_address: HOST,
    start_native_transport: true,
    native_transport_port: ports['main'],
    data_file_directories: [join(data, 'data')],
    commitlog_directory: join(data, 'commitlog'),
    hints_directory: join(data, 'hints'),
    saved_caches_directory: join(data, 'saved_caches'),
    cdc_raw_directory: join(data, 'cdc_raw'),
    // The default: writes are acknowledged before they are on disk.
    commitlog_sync: 'periodic',
    commitlog_sync_period: '10000ms',
    commitlog_total_space: '256MiB',
    memtable_heap_space: '64MiB',
    memtable_offheap_space: '64MiB',
    key_cache_size: '8MiB',
    file_cache_enabled: false,
    // By default a dropped table leaves a copy of its rows on disk.
    auto_snapshot: false,
    concurrent_reads: 8,
    concurrent_writes: 8,
    concurrent_compactors: 1,
    // By default batches above 50 KiB are refused, and those above 5 KiB are logged.
    batch_size_warn_threshold: '1MiB',
    batch_size_fail_threshold: '16MiB',
    unlogged_batch_across_partitions_warn_threshold: 100_000,
  };
  return `${JSON.stringify(settings, null, 2)}\n`;
}

const LOGGING = `<configuration>
  <appender name="console" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date{HH:mm:ss} %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="console"/></root>
</configuration>
`;

/**
 * @param {string} folder folder of the server
 * @param {string} agent path of the object-size agent that Cassandra requires
 * @returns {string[]} arguments of java, the main class last
 */
export function javaArguments(folder, agent) {
  const { configuration, logging, data, temporary } = filesOf(folder);
  const unnamed = (/** @type {string} */ name) => `${name}=ALL-UNNAMED`;
  return [
    // Allocate and touch the whole heap at start, not during requests.
    ...[`-Xms${HEAP}`, `-Xmx${HEAP}`, '-XX:+UseG1GC', '-XX:+AlwaysPreTouch'],
    '-XX:-UsePerfData', // it would leave a file in the system's temporary folder
    `-javaagent:${agent}`,
    ...['-Djava.net.preferIPv4Stack=true', `-Djava.io.tmpdir=${temporary}`],
    `-Djna.tmpdir=${temporary}`,
    `-Dcassandra.storagedir=${data}`,
    `-Dcassandra.config=${pathToFileURL(configuration)}`,
    `-Dlogback.configurationFile=${pathToFileURL(logging)}`,
    // A single node need not wait for others.
    ...['-Dcassandra-foreground=yes', '-Dcassandra.skip_wait_for_gossip_to_settle=0'],
    ...['-Dcassandra.ring_delay_ms=0', '-Dcassandra.shutdown_announce_in_ms=0'],
    '-Dcassandra.initial_token=0',
    // Creates the first role immediately; few hash rounds, because the secret is random.
    ...['-Dcassandra.superuser_setup_delay_ms=0', '-Dcassandra.auth_bcrypt_gensalt_log2_rounds=4'],
    ...['-Djdk.attach.allowAttachSelf=true', '-Dio.netty.tryReflectionSetAccessible=true'],
    ...EXPORTS.flatMap((name) => ['--add-exports', unnamed(name)]),
    ...OPENS.flatMap((name) => ['--add-opens', unnamed(name)]),
    'org.apache.cassandra.service.CassandraDaemon',
  ];
}
