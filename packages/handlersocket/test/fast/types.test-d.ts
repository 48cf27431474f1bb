/** The types of dragstrip-handlersocket, as its users see them: compiled by tsc, never run. */

import {
  baseTableGuard,
  connect,
  ERROR_CODES,
  type HandlerSocketClient,
  type HandlerSocketError,
  type OpenIndex,
} from '../../index.js';

type Field = string | number | bigint | Buffer | null;

export async function reads(): Promise<void> {
  const client: HandlerSocketClient = await connect({
    host: 'db.example',
    port: 9998,
    writePort: 9999,
    secret: async () => 'from a file',
    connections: 4,
    guard: baseTableGuard(async (_sql: string, _values: string[]) => [[], []]),
    signal: AbortSignal.timeout(1000),
  });
  const index: OpenIndex = await client.openIndex({
    database: 'd',
    table: 't',
    columns: ['id', 'v'],
    filters: ['w'],
    types: { id: 'number', v: 'buffer' },
  });
  const value: Field | undefined = await index.value(1);
  const row: Field[] | undefined = await index.get([1, Buffer.of(2)]);
  const rows: Field[][] = await index.find('>=', 1, {
    limit: 10,
    filters: [{ column: 'w', op: '!=', value: null, stop: true }],
    signal: new AbortController().signal,
  });
  const objects: Record<string, Field>[] = await index.findObjects('=', 'k', {
    in: { part: 0, values: ['a', 2n] },
  });
  index.value(1, (error, found) => {
    const code: string | undefined = error?.code;
    const field: Field | undefined = found;
    void [code, field];
  });
  for await (const each of index.scan({ pageSize: 10, keyColumns: ['id'] })) {
    const first: Field = each[0];
    void first;
  }
  void [value, row, rows, objects];
  await client.close({ timeoutMs: 100 });
}

export async function changes(client: HandlerSocketClient, index: OpenIndex): Promise<void> {
  const id: number | bigint | undefined = await index.insert([null, 'x']);
  const count: number = await index.update('=', 1, [1, 'y'], { limit: 5 });
  const old: Field[][] = await index.incrementReturning('=', 1, [1, null]);
  const results = await client.batch().insert(index, [1, 'x']).find(index, '=', 1).send();
  for (const result of results) {
    if (result.status === 'rejected') {
      const error: HandlerSocketError = result.reason;
      const unknown: boolean = error.outcomeUnknown;
      void unknown;
    }
  }
  const altered: number = await client.releaseTables(() => 5);
  const inFlight: number = client.counters().inFlight;
  const text: string = ERROR_CODES['HS_AUTH'];
  void [id, count, old, altered, inFlight, text];
}

export function mistakes(client: HandlerSocketClient, index: OpenIndex): void {
  // @ts-expect-error a port is a number
  void connect({ port: '9998' });
  // @ts-expect-error no such option
  void connect({ prot: 9998 });
  // @ts-expect-error columns are missing
  void client.openIndex({ database: 'd', table: 't' });
  // @ts-expect-error no such type
  void client.openIndex({ database: 'd', table: 't', columns: ['a'], types: 'json' });
  // @ts-expect-error no such operator: the server would answer an error
  void index.find('<>', 1);
  // @ts-expect-error no such filter operator: the server would let every row through
  void index.find('=', 1, { filters: [{ column: 'a', op: '<>', value: 1 }] });
  // @ts-expect-error a Date has no one format
  void index.insert([new Date()]);
  // @ts-expect-error undefined is no value
  void index.get(undefined);
  // @ts-expect-error an update needs its values
  void index.update('=', 1);
  // @ts-expect-error with a callback nothing is returned to wait for
  const promise: Promise<unknown> = index.value(1, () => {});
  void promise;
}
