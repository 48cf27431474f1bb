/** Runs a program until it exits and returns its output. For servers see process.js. */

import { targetError } from '../lib/errors.js';
import { asUser } from './unprivileged.js';

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string>, timeoutMs?: number, signal?: AbortSignal,
 *   user?: { uid: number, gid: number } }} [options] env: added to the environment of this process;
 *   user: other than that of this process
 * @returns {Promise<{ ok: boolean, output: string, reason: string }>} output: both streams;
 *   reason: of a failure, else empty
 * @throws the abort reason of `signal`
 */
export async function runCommand(
  program,
  args,
  { cwd, env, timeoutMs = 300_000, signal, user } = {},
) {
  const { execa } = await import('execa'); // takes 40 ms, which most commands can avoid
  const [file, argv] = (user && asUser(user, program, args, { owned: true })) ?? [program, args];
  const result = await execa(file, argv, {
    cwd,
    env: { LC_ALL: 'C', ...env },
    all: true,
    stdin: 'ignore',
    reject: false,
    timeout: timeoutMs,
    forceKillAfterDelay: 2000,
    cancelSignal: signal,
    ...(file === program && user),
  });
  signal?.throwIfAborted();
  const output = (result.all ?? '').trimEnd();
  return {
    ok: !result.failed,
    output,
    reason: result.failed ? (result.shortMessage ?? 'it failed') : '',
  };
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {RegExp} form its first group is the version
 * @param {Record<string, string>} env
 * @returns {Promise<string>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET if it does not run or is a
 *   different program
 */
export async function readProgramVersion(program, args, form, env) {
  const { output, reason } = await runCommand(program, args, { env, timeoutMs: 10_000 });
  const version = form.exec(output)?.[1];
  if (version === undefined) {
    const why = (output || reason).split('\n').slice(-1)[0];
    throw targetError(
      `${program} does not run here: ${why}`,
      'remove it from PATH, or run `npx dragstrip servers fetch`',
    );
  }
  return version;
}
