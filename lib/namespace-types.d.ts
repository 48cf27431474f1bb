/**
 * What a namespace is: the keys, table or space that Dragstrip owns on a server, marked as its own;
 * a part of lib/types.d.ts.
 */

import type { Address, Credentials } from './types.js';

/** A connection to a server, as loaders and namespaces open it. */
export interface ConnectionContext {
  address: Address;
  credentials: Credentials;
  signal?: AbortSignal;
  /** a server that answers nothing for so long has failed; default 30 000 */
  timeoutMs?: number;
}

/** A namespace on one server, and a connection to that server. */
export interface NamespaceHandle {
  /** Rejects E_REFUSED where another run that lives is using it. */
  check(): Promise<void>;
  /**
   * Creates it, empty and marked as ours; what a killed run left is removed. Rejects
   * E_REFUSED, and changes nothing, where something is there that Dragstrip did not create, or
   * that another run is using.
   */
  claim(): Promise<void>;
  /**
   * Removes it and all that is in it, the mark last; nothing where it is not ours, or another
   * run's. Gives how many keys or rows were there, as far as that is known.
   */
  release(): Promise<number>;
  /** the connection */
  close(): Promise<void>;
}

/** Declared as data, for each server that it exists on. Nothing outside of it is ever touched. */
export interface Namespace {
  /** in its mark: lower-case letters */
  name: string;
  /** it holds the rows of the dataset, which the loaders write */
  rows?: boolean;
  /** its runs also write rows that the loader does not: they are found by `own`, and a rest of
   *  them is removed before the loader looks at it */
  grows?: boolean;
  /** every key that begins with one of these prefixes, and the key of the mark */
  redis?: {
    prefix: string;
    further?: readonly string[];
    marker: string;
    /** the keys that its runs create: nothing else below the prefixes is removed; absent: all of
     *  them are */
    own?: RegExp;
  };
  /** one table, marked by its comment; definition: its columns and its engine, as SQL */
  mariadb?: { database: string; table: string; definition?: string };
  /** a space that box.lua creates, marked by the tuple `key` of the space `marker` */
  tarantool?: { space: string; marker: string; key: string };
  /** a keyspace with one table, marked by its comment; definition: its columns, as CQL */
  cassandra?: { keyspace: string; table: string; definition: string };
  /** further names inside of it that storages need */
  names?: Partial<NamespaceNames>;
}

/** Names of a namespace as an open context has them: those that its workload declares. */
export interface NamespaceNames {
  /** of keys; the id follows */
  redisPrefix: string;
  redisMarker: string;
  database: string;
  table: string;
  space: string;
  tarantoolMarker: string;
  /** key of the marker's tuple */
  tarantoolKey: string;
  /** of Cassandra */
  keyspace: string;
  cassandraTable: string;
  /** of the keys of locks, and of the numbers that they guard */
  redisLock: string;
  redisNumber: string;
  /** of the names of GET_LOCK, which have 64 characters at most */
  mysqlLock: string;
}
