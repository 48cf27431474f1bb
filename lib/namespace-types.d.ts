/**
 * A namespace: the keys, table or space that Dragstrip owns on a server, marked as its own;
 * a part of lib/types.d.ts.
 */

import type { Address, Credentials } from './types.js';

/** A connection to a server, as loaders and namespaces open it. */
export interface ConnectionContext {
  address: Address;
  credentials: Credentials;
  signal?: AbortSignal;
  /** a server that does not reply for this long has failed; default 30 000 */
  timeoutMs?: number;
}

/** A namespace on one server, and a connection to that server. */
export interface NamespaceHandle {
  /** Rejects with E_REFUSED if another active run uses it. */
  check(): Promise<void>;
  /**
   * Creates it, empty and marked as Dragstrip's; removes the remains of a killed run. Rejects with
   * E_REFUSED, and changes nothing, if it contains data that Dragstrip did not create, or that
   * another run uses.
   */
  claim(): Promise<void>;
  /**
   * Removes it with all its data, the mark last; does nothing if it is not Dragstrip's, or another
   * run's. Resolves to the number of keys or rows, as far as known.
   */
  release(): Promise<number>;
  /** closes the connection */
  close(): Promise<void>;
}

/** Declared as data, for each server that it exists on. Nothing outside it is ever modified. */
export interface Namespace {
  /** name in its mark: lower-case letters */
  name: string;
  /** it holds the rows of the dataset, which the loaders write */
  rows?: boolean;
  /**
   * its runs also write rows that the loader does not: `own` matches them, and remains are removed
   * before the loader inspects it
   */
  grows?: boolean;
  /** every key with one of these prefixes, and the key of the mark */
  redis?: {
    prefix: string;
    further?: readonly string[];
    marker: string;
    /** keys created by its runs: nothing else below the prefixes is removed; absent: all of them */
    own?: RegExp;
  };
  /** one table, marked by its comment; definition: its columns and its engine, as SQL */
  mariadb?: { database: string; table: string; definition?: string };
  /** a space created by box.lua, marked by the tuple `key` of the space `marker` */
  tarantool?: { space: string; marker: string; key: string };
  /** a keyspace with one table, marked by its comment; definition: its columns, as CQL */
  cassandra?: { keyspace: string; table: string; definition: string };
  /** further names within it that storages need */
  names?: Partial<NamespaceNames>;
}

/** Names of a namespace in an open context: those declared by its workload. */
export interface NamespaceNames {
  /** prefix of keys, followed by the id */
  redisPrefix: string;
  redisMarker: string;
  database: string;
  table: string;
  space: string;
  tarantoolMarker: string;
  /** key of the marker's tuple */
  tarantoolKey: string;
  /** names in Cassandra */
  keyspace: string;
  cassandraTable: string;
  /** prefix of the keys of locks, and of the numbers that they guard */
  redisLock: string;
  redisNumber: string;
  /** prefix of the names of GET_LOCK, which have at most 64 characters */
  mysqlLock: string;
}
