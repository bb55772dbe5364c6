import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Failure } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { encoderFailure, unlessDiskFailed } from '../src/encoderFailure.js';
import type { ProgramOutcome } from '../src/SandboxedProgram.js';

const ended = /^The encoder was ended from outside/;
const disk = /^The film could not be read from its disk, or the new one not written\. The original was kept\.$/;

const { signal } = new AbortController();

/** The sentence about an encoder that ended so, of a film that can be read. */
async function sentence(t: ExecutionContext, outcome: Partial<ProgramOutcome>, source = '/dev/null'): Promise<string> {
	const film = await open(source);
	t.teardown(() => film.close());
	return (await encoderFailure({ code: 0, output: '', log: [], ...outcome }, film.fd, signal)).message;
}

for (const [how, code, line, expected] of [
	['was killed, as where memory runs out', 137, '', ended],
	['was ended by the system as that stops', 143, '', ended],
	['was ended by a person', 129, '', ended],
	['was interrupted, for which it has a code of its own', 1, '', ended],
	['had no processes left', 3, 'x265: Resource temporarily unavailable', ended],
	['had no memory left', 3, 'malloc of size 4147200 failed', /^There was not enough memory for the encoder/],
	['had no memory left and aborted', 134, 'Out of memory', /^There was not enough memory for the encoder/],
	['was on a full disk', 4, 'av_interleaved_write_frame: No space left on device', /^There is not enough free space/],
	['reached the length that was left', 153, '', /^There is not enough free space/],
	['was on a disk that fails', 4, 'av_interleaved_write_frame: Input/output error', disk],
	['crashed', 139, '', /^The encoder crashed/],
	['gave up', 3, '', /^The encoder gave up \(exit code 3\)/],
	['found no film', 2, '', /^The file could not be read as a video\.$/],
	// Words of the film itself.
	['gave up on a film with such a title', 3, '     title           : Out of memory', /^The encoder gave up/],
] as const) {
	test(`an encoder that ${how} is named as that`, async (t) => {
		t.regex(await sentence(t, { code, log: ['begun', line] }), expected);
	});
}

test('an encoder that was ended as it printed without an end was not ended from outside', async (t) => {
	t.regex(await sentence(t, { code: 137, hasPrintedTooMuch: true }), /^The encoder printed more than of any film/);
});

test('a film that its disk does not give any more is not called damaged', async (t) => {
	const broken = '/proc/self/mem';
	for (const code of [2, 3, 139]) t.regex(await sentence(t, { code }, broken), disk, `${code}`);
	t.regex(await sentence(t, { code: 137 }, broken), ended);
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const damaged = new Failure('conflict', 'The original is probably damaged.');
	await writeFile(path.join(folder, 'film'), Buffer.alloc(3_000_000));
	const whole = await open(path.join(folder, 'film'));
	t.teardown(() => whole.close());
	t.is(await unlessDiskFailed(damaged, whole.fd, signal), damaged);
	const late = AbortSignal.abort(new Error('late'));
	await t.throwsAsync(unlessDiskFailed(damaged, whole.fd, late), { message: 'late' });
});
