import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findSandbox, killGroup, moduleFiles, spawnLimited } from '@stowage/plugin-api';
import { Failure, type PreviewKind } from '@stowage/rules';
import type { KindAnswer, KindRequest } from './kindProgram.js';

/** Reading some kilobytes takes less than a millisecond; the rest is for a busy machine. */
const defaultTimeLimitMs = 5000;

/** A child that is not ready by then will not be. */
const startLimitMs = 30_000;

const idleMs = 60_000;

const memoryBytes = 512 * 1024 * 1024;

export interface KindProcessOptions {
	timeLimitMs?: number;
	/** The program of the child; a test may name another. */
	program?: string;
}

/** The child, and the lines of its answers. */
interface Child {
	process: ChildProcess;
	answers: AsyncIterator<string>;
}

/**
 * Finds out the kinds of files by their first bytes, in a child process as decoding is: contents are made by anybody, and what they do to
 * the child reaches nothing else. One that takes forever is ended by the time limit.
 */
export class KindProcess {
	#child: Child | undefined;
	#idle: NodeJS.Timeout | undefined;
	/** One after another, or it would be unknown which one takes too long. */
	#last: Promise<unknown> = Promise.resolve();
	readonly #options: Required<KindProcessOptions>;

	constructor(options: KindProcessOptions = {}) {
		const program = fileURLToPath(new URL('./kindProgram.js', import.meta.url));
		this.#options = { timeLimitMs: defaultTimeLimitMs, program, ...options };
	}

	/**
	 * The kind that a file has by its first bytes; undefined if that took too long. Throws `unavailable` if there can be no child right
	 * now.
	 */
	find(named: PreviewKind, firstBytes: Uint8Array): Promise<KindAnswer | undefined> {
		const request: KindRequest = { named, firstBytes: Buffer.from(firstBytes).toString('base64') };
		const found = this.#last.then(() => this.#find(request));
		this.#last = found.catch(() => {});
		return found;
	}

	/** Ends the child. */
	close(): void {
		clearTimeout(this.#idle);
		if (this.#child !== undefined) killGroup(this.#child.process);
		this.#child = undefined;
	}

	async #find(request: KindRequest): Promise<KindAnswer | undefined> {
		clearTimeout(this.#idle);
		try {
			this.#child ??= await this.#start();
			this.#child.process.stdin?.write(`${JSON.stringify(request)}\n`);
			const answer = await nextLine(this.#child, this.#options.timeLimitMs);
			if (answer === undefined) this.close();
			else this.#idle = setTimeout(() => this.close(), idleMs).unref();
			return answer === undefined ? undefined : (JSON.parse(answer) as KindAnswer);
		} catch (cause) {
			this.close();
			throw new Failure('unavailable', 'There are no previews right now.', { cause, retryAfter: 30 });
		}
	}

	async #start(): Promise<Child> {
		const { program } = this.#options;
		const args = ['--max-old-space-size=32', program];
		const sandboxed = (await findSandbox())?.wrap(process.execPath, args, {
			readOnly: moduleFiles(program, ['@stowage/rules']),
		});
		const child = spawnLimited(sandboxed?.command ?? process.execPath, sandboxed?.args ?? args, {
			memoryBytes,
			fileBytes: 0,
		});
		await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
		const { stdin, stdout } = child;
		if (stdin === null || stdout === null) throw new Error('The child has no pipes.');
		// The answer, or that there is none, says it.
		stdin.on('error', () => {});
		child.on('error', () => {});
		child.stderr?.resume();
		// It holds up no end of the server, with which its input ends.
		child.unref();
		for (const pipe of [stdin, stdout, child.stderr]) (pipe as Socket | null)?.unref();
		const started = { process: child, answers: createInterface({ input: stdout })[Symbol.asyncIterator]() };
		if ((await nextLine(started, startLimitMs)) === undefined) {
			killGroup(child);
			throw new Error('The child did not get ready.');
		}
		return started;
	}
}

/** The next line that the child writes; undefined if there is none in this time. Throws if it has ended. */
async function nextLine({ answers }: Child, timeLimitMs: number): Promise<string | undefined> {
	let timer: NodeJS.Timeout | undefined;
	const tooLate = new Promise<undefined>((resolve) => {
		timer = setTimeout(() => resolve(undefined), timeLimitMs);
	});
	try {
		const line = await Promise.race([answers.next(), tooLate]);
		if (line?.done) throw new Error('The child has ended.');
		return line?.value;
	} finally {
		clearTimeout(timer);
	}
}
