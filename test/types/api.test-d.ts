/**
 * Types of the programming interface, as a program in TypeScript sees them: checked by tsc with
 * the rest, never run. A line after @ts-expect-error that is right makes tsc fail.
 */

import {
  createDataset,
  DragstripError,
  defineStorage,
  type parseResult,
  run,
} from '../../index.js';

/** Whether two types are the same, in both directions. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function holds<_T extends true>(): void {}

type Result = Awaited<ReturnType<typeof run>>;
type Benchmark = Result['benchmarks'][number];
type Round = Benchmark['rounds'][number];

holds<Same<Result['state'], 'running' | 'complete' | 'aborted'>>();
holds<Same<Benchmark['state'], 'planned' | 'measured' | 'skipped' | 'failed' | 'aborted'>>();
holds<Same<Round['outcomes']['ok'], number>>();
holds<Same<NonNullable<Round['latency']>['p99Ns'], number | null>>();
holds<Same<ReturnType<typeof parseResult>, Result>>();

export async function use(signal: AbortSignal): Promise<string | null> {
  const result = await run(
    { storages: ['ioredis:tuned'], loads: [{ kind: 'window', inFlight: 64 }], rounds: 3 },
    {
      signal,
      onEvent(event) {
        if (event.type === 'benchmark-end') holds<Same<typeof event.round, Round>>();
        // @ts-expect-error there is no such event
        if (event.type === 'lunch') return;
      },
    },
  );
  await run();
  // @ts-expect-error a list of names, not a name
  await run({ storages: 'ioredis' });
  // @ts-expect-error there is no such load
  await run({ loads: [{ kind: 'storm' }] });
  // @ts-expect-error an option that is not known
  await run({ colour: 'red' });
  return result.finishedAt;
}

export const storage = defineStorage({
  name: 'mine',
  summary: 'of a program',
  package: null,
  server: null,
  rows: ['get'],
  profiles: { default: { summary: 'as it is', options: {} } },
  open: async ({ dataset }) => ({
    get: (id: number) => Promise.resolve(dataset.value(id)),
    close: async () => {},
  }),
});

export const value: string = createDataset({ rows: 5 }).value(1);
export const code: string = new DragstripError('E_USAGE', 'what').code;
