import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import { killGroup, moduleFiles, type Sandbox, spawnLimited, wasDisturbed } from '@stowage/plugin-api';
import { answerHeaderBytes, lackingCode, parseAnswerHeader, requestHeader } from './messages.js';

/** The child ended before it had answered. */
export class WorkerDied extends Error {}

/** The child was not started, or was ended from outside: that says nothing of the image. */
export class WorkerDisturbed extends Error {}

/** The child was not ready in time: Node may be held up for ever where there are few threads. */
export class WorkerStuck extends WorkerDisturbed {}

/** A file of its program was not found, or not whole, or there was no memory for it: for a moment, as during an upgrade, or for good. */
export class WorkerIncomplete extends WorkerDisturbed {}

/** The child ended before it could begin: something is missing on this machine. */
export class WorkerUnusable extends Error {}

/** What Node says of a file that it could not load. */
const notLoaded = /^node:internal\//;

/** What the system says where there is no memory for another program. */
const noMemory = /Cannot allocate memory/;

/** A picture of noise has two megabytes. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** How much of a child's standard error is kept, from its start or of one image: it says whether the machine lacks something. */
const maxErrorText = 2000;

export interface ImageWorkerOptions {
	/** The program of the child. */
	program: string;
	memoryBytes: number;
	/** Undefined for limits only. */
	sandbox: Sandbox | undefined;
	/** How long its start may take. */
	startMs: number;
}

/** One child process that decodes images of one owner. */
export class ImageWorker {
	uses = 0;
	isAlive = true;
	#isReady = false;
	#isKilled = false;
	#starting: NodeJS.Timeout | undefined;
	#errorText = '';
	readonly #child: ChildProcess;
	readonly #input: Writable;
	#chunks: Buffer[] = [];
	#length = 0;
	/** The number of bytes needed before parsing can continue. */
	#wanted = answerHeaderBytes;
	/** Why it ended, once it has. */
	readonly #ended: Promise<Error>;
	#setEnded: (reason: Error) => void = () => {};
	#pending: { resolve(picture: Buffer | undefined): void; reject(error: Error): void } | undefined;

	/** Throws `WorkerDisturbed` if it can't be started now. */
	constructor(
		readonly owner: string,
		{ program, memoryBytes, sandbox, startMs }: ImageWorkerOptions,
	) {
		this.#ended = new Promise((resolve) => {
			this.#setEnded = resolve;
		});
		const args = ['--max-old-space-size=64', program];
		try {
			const wrapped = sandbox?.wrap(process.execPath, args, {
				readOnly: moduleFiles(program, ['sharp', 'libheif-js/wasm-bundle.js']),
			});
			this.#child = spawnLimited(wrapped?.command ?? process.execPath, wrapped?.args ?? args, {
				memoryBytes,
				fileBytes: 0,
			});
		} catch (cause) {
			throw new WorkerDisturbed('The child could not be started.', { cause });
		}
		this.#child.once('error', (cause) => this.#end(new WorkerDisturbed('The child could not be started.', { cause })));
		// Without descriptors for them they are not even made, whatever the types say.
		const { stdin, stdout, stderr } = this.#child as Partial<ChildProcess>;
		if (!stdin || !stdout || !stderr) throw new WorkerDisturbed('The child could not be started.');
		this.#input = stdin;
		// The write itself fails as well, and `close` is emitted.
		this.#input.on('error', () => {});
		stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
		this.#starting = setTimeout(() => this.#endStuck(), startMs).unref();
		stderr.on('data', (chunk: Buffer) => {
			this.#errorText = (this.#errorText + chunk).slice(0, maxErrorText);
		});
		this.#child.once('close', (code, signal) => this.#end(this.#reasonOf(code, signal)));
	}

	#endStuck(): void {
		// At once, whether or not its processes can be ended.
		this.#end(new WorkerStuck('The child did not get ready.'));
		killGroup(this.#child);
	}

	#reasonOf(code: number | null, signal: NodeJS.Signals | null): Error {
		if (this.#isKilled) return new WorkerDied('The child was killed.');
		const errors = this.#errorText;
		if (code === lackingCode) return new WorkerDisturbed('The child had no threads or descriptors.');
		if (this.#isReady) {
			return wasDisturbed({ code, signal, errors })
				? new WorkerDisturbed('The child was ended.')
				: new WorkerDied('The child has ended.');
		}
		// Before it is ready it has looked at no image; an end by a signal, which a sandbox reports as a code from 128 on, is no sign of a
		// missing library either.
		const isSignalled = code === null || code > 128;
		if (isSignalled || wasDisturbed({ code, signal, errors })) return new WorkerDisturbed('The child was ended.');
		const isIncomplete = notLoaded.test(errors) || noMemory.test(errors);
		return isIncomplete ? new WorkerIncomplete(errorLine(errors)) : new WorkerUnusable(errorLine(errors));
	}

	/** Whether it has begun: before that it has looked at no image. */
	get isReady(): boolean {
		return this.#isReady;
	}

	/** The picture, or undefined if there is none. One image at a time. */
	async render(image: AsyncIterable<Uint8Array>, length: number, size: number): Promise<Buffer | undefined> {
		this.uses++;
		if (this.#isReady) this.#errorText = '';
		const answered = new Promise<Buffer | undefined>((resolve, reject) => {
			this.#pending = { resolve, reject };
			if (!this.isAlive) reject(new WorkerDied('The child has ended.'));
		});
		// The result may arrive before all of the image was sent.
		answered.catch(() => {});
		await this.#write(requestHeader(size, length));
		let left = length;
		for await (const chunk of image) {
			left -= chunk.length;
			await this.#write(chunk);
		}
		if (left !== 0) throw new Error('The image has another length than was said.');
		return answered;
	}

	/** Ends it at once, with whatever it was doing. */
	kill(): void {
		this.isAlive = false;
		this.#isKilled = true;
		killGroup(this.#child);
	}

	/** Resolves when the memory of the chunk is no longer needed. */
	#write(chunk: Uint8Array): Promise<void> {
		return new Promise((resolve, reject) => {
			// How it ended says why it does not read any more.
			this.#input.write(chunk, (error) => (error ? this.#ended.then(reject) : resolve()));
		});
	}

	#receive(chunk: Buffer): void {
		this.#chunks.push(chunk);
		this.#length += chunk.length;
		while (this.#length >= this.#wanted) {
			// Copied once for each answer at most: many small ones may arrive in one chunk.
			const received = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
			const { answer, length } = parseAnswerHeader(received);
			// A compromised decoder may send anything.
			if (answer === undefined || length > maxAnswerBytes) {
				this.kill();
				return;
			}
			const end = answerHeaderBytes + length;
			this.#wanted = end;
			if (received.length < end) return;
			const rest = received.subarray(end);
			[this.#chunks, this.#length, this.#wanted] = [[rest], rest.length, answerHeaderBytes];
			if (answer === 'ready') {
				clearTimeout(this.#starting);
				this.#isReady = true;
				this.#errorText = '';
			} else this.#pending?.resolve(answer === 'picture' ? received.subarray(answerHeaderBytes, end) : undefined);
		}
	}

	#end(error: Error): void {
		this.isAlive = false;
		clearTimeout(this.#starting);
		this.#pending?.reject(error);
		this.#setEnded(error);
	}
}

function errorLine(text: string): string {
	const found = text.split('\n').find((line) => /^\w*Error/.test(line) || noMemory.test(line));
	return found ?? 'The child ended at once.';
}
