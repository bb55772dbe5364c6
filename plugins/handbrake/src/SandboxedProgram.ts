import type { ChildProcess } from 'node:child_process';
import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import {
	Failure,
	isFailure,
	killGroup,
	type LentDescriptor,
	type Sandbox,
	spawnLimited,
	wasDisturbed,
	wasNotStarted,
} from '@stowage/plugin-api';
import { lineReader } from './progress.js';

export interface SandboxedProgramOptions {
	/** Its absolute path. */
	program: string;
	/** Undefined for limits only. */
	sandbox: Sandbox | undefined;
	memoryBytes: number;
	/** Whether it may use the graphics processor. */
	mayUseHardware?: boolean;
}

export interface ProgramRun {
	/** Become its descriptors 3 and on. It may write to those from the second one on. */
	files?: readonly number[];
	/** The length of the files that it may write; 0 by default. */
	fileBytes?: number;
	/** Processor time. */
	cpuSeconds?: number;
	/**
	 * How long it may say nothing at first: longer it is held up, such as by Node where that has no threads to begin, and is killed as one
	 * that could not be started. `mostSilent` by default; infinite for one that may read a whole film before.
	 */
	silentSeconds?: number;
	/** How much it may print, log included, before it is killed; `mostPrinted` by default. */
	maxPrinted?: number;
	/** Whether it prints no more than is in its first file: `maxPrinted` is then what honest films of this size may need. */
	printsContent?: boolean;
	/**
	 * Whether an outcome is returned also where it was killed, or lacked processes or descriptors for the moment: for hours of work, which
	 * may end so each time.
	 */
	returnsKill?: boolean;
	signal: AbortSignal;
	/** Called with each line of its standard output, which is then not returned. */
	onLine?: (line: string) => void;
	/** Called with each line of its log. */
	onLogLine?: (line: string) => void;
}

export interface ProgramOutcome {
	/** 128 and the number of a signal, if one ended it. */
	code: number;
	/** The end of its standard output. */
	output: string;
	/** The last lines of its log. */
	log: string[];
	/** Whether it was killed for that: it is no end from outside. */
	hasPrintedTooMuch?: boolean;
}

/** Seconds. At the lowest priority, and from a slow disk, a program takes minutes to open a film. */
const mostSilent = 900;
const maxOutput = 4 * 1024 * 1024;
const maxLogLines = 40;
/** Some 30 million packets: what programs say of ten hours of film with several tracks of sound is less. */
const mostPrinted = 2 ** 31;
/**
 * What programs may print of a film of any size, 300,000 packets, and of each of its bytes. The shortest packet of a film that shows and
 * plays something has more than two bytes, with its part of the tables; but tables may name the same bytes by the million.
 */
const printedOfAny = 2 ** 24;
const printedOfByte = 32;
/** The main process pauses this many times as long as it has read what a program prints: reading takes a quarter of its time. */
const restForWork = 3;
/** How much of the beginning of its standard error says why it did not start. */
const maxErrors = 2000;

/** What the graphics processor needs. */
const hardware = { devices: ['/dev/dri', '/dev/nvidia0', '/dev/nvidiactl', '/dev/nvidia-uvm'], readOnly: ['/sys'] };

/** A program for films as a child process with limits, in a sandbox if there is one. */
export class SandboxedProgram {
	constructor(readonly options: SandboxedProgramOptions) {}

	/**
	 * Runs it to its end, or until it has printed too much: then its code is that of a killed program, and it has no output. When the signal
	 * fires it is killed with all its child processes, and the signal's reason thrown once they have ended. Throws `unavailable` if it could
	 * not be started, was held up, or was ended by others, which says nothing of what it was given.
	 */
	async run(args: readonly string[], run: ProgramRun): Promise<ProgramOutcome> {
		const { signal, silentSeconds = mostSilent, returnsKill = false, onLine, onLogLine } = run;
		signal.throwIfAborted();
		const child = this.#start(args, run);
		const ended = new Promise<number | null>((resolve, reject) => {
			child.once('error', (error) => reject(notNow(error)));
			child.once('close', (code) => resolve(code));
		});
		const end = () => killGroup(child);
		// The shell that waits for it was killed: its child is killed, too.
		child.once('exit', (_code, killedBy) => killedBy === null || end());
		let isHeldUp = false;
		const endHeldUp = () => {
			isHeldUp = true;
			end();
		};
		const timer = Number.isFinite(silentSeconds) ? setTimeout(endHeldUp, silentSeconds * 1000) : undefined;
		signal.addEventListener('abort', end, { once: true });
		// Also open while it is not written to: the child would be killed at its end.
		child.stdin?.on('error', () => {});
		let output = '';
		let errors = '';
		let left = maxPrintedOf(run);
		const isTooMuch = (chunk: string) => {
			clearTimeout(timer);
			left -= chunk.length;
			if (left < 0) end();
			return left < 0;
		};
		const log: string[] = [];
		const takeOutput =
			onLine === undefined
				? (chunk: string) => {
						output += chunk;
						// Cut seldom: each cut copies what is kept.
						if (output.length > 2 * maxOutput) output = output.slice(-maxOutput);
					}
				: lineReader(onLine);
		const takeLog = lineReader((line) => {
			onLogLine?.(line);
			log.push(line);
			if (log.length > maxLogLines) log.shift();
		});
		takeInTurns(child.stdout, (chunk) => isTooMuch(chunk) || takeOutput(chunk));
		takeInTurns(child.stderr, (chunk) => {
			if (isTooMuch(chunk)) return;
			if (errors.length < maxErrors) errors += chunk;
			takeLog(chunk);
		});
		try {
			const code = (await ended) ?? killedCode;
			signal.throwIfAborted();
			if (isHeldUp) throw notNow(new Error('It said nothing for too long.'));
			// It may have ended by itself before it could be killed.
			if (left < 0) return { code: killedCode, output: '', log, hasPrintedTooMuch: true };
			const isDisturbed = !returnsKill && wasDisturbed({ code, signal: null, errors });
			if (isDisturbed || wasNotStarted({ code, errors })) throw notNow(new Error(`It ended with ${code}: ${errors}`));
			return { code, output: output.slice(-maxOutput), log };
		} finally {
			clearTimeout(timer);
			signal.removeEventListener('abort', end);
		}
	}

	#start(args: readonly string[], { files = [], fileBytes = 0, cpuSeconds }: ProgramRun): ChildProcess {
		const { program, sandbox, memoryBytes, mayUseHardware } = this.options;
		const lent = files.map(
			(source, n): LentDescriptor => ({ descriptor: 3 + n, access: n === 0 ? 'read' : 'write', source }),
		);
		const needs = { files: lent, ...(mayUseHardware === true ? hardware : {}) };
		try {
			const sandboxed = sandbox?.wrap(program, args, needs) ?? { command: program, args };
			return spawnLimited(sandboxed.command, sandboxed.args, {
				memoryBytes,
				openFiles: 256,
				priority: 'idle',
				endsWithInput: true,
				files,
				fileBytes,
				...(cpuSeconds === undefined ? {} : { cpuSeconds }),
				// It creates an unneeded folder there, and leaves it when it is killed.
				env: { TMPDIR: '/nonexistent' },
			});
		} catch (error) {
			// Some errors of starting it are thrown, others are events.
			throw notNow(error);
		}
	}
}

/** How often something is tried again, for which its failure says when. */
const maxTries = 20;

/** What runs programs, from its beginning again where one could not be started or was ended by others. */
export async function patiently<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
	for (let tries = 1; ; tries++) {
		try {
			return await attempt();
		} catch (error) {
			const seconds = isFailure(error, 'unavailable') ? error.retryAfter : undefined;
			if (seconds === undefined || tries === maxTries) throw error;
			await wait(seconds * 1000, undefined, { signal }).catch(() => signal.throwIfAborted());
		}
	}
}

const killedCode = 128 + 9;

function maxPrintedOf({ maxPrinted = mostPrinted, printsContent = false, files: [film] = [] }: ProgramRun): number {
	if (!printsContent || film === undefined) return maxPrinted;
	return Math.min(maxPrinted, printedOfAny + printedOfByte * fstatSync(film).size);
}

/** Gives the event loop to others after each piece, for so much longer than the piece took: the program waits meanwhile. */
function takeInTurns(stream: Readable | null, take: (chunk: string) => void): void {
	stream?.setEncoding('utf8').on('data', (chunk: string) => {
		const begun = performance.now();
		take(chunk);
		const worked = performance.now() - begun;
		if (worked < shortestWorkMs) return;
		stream.pause();
		setTimeout(() => stream.resume(), worked * restForWork);
	});
}

/** Programs print a line of progress now and then, too. */
const shortestWorkMs = 0.3;

/** The refusal of what may succeed later. */
export function notNow(cause: unknown): Failure {
	const message = 'Videos can’t be converted right now. Please try again in a moment.';
	return new Failure('unavailable', message, { cause, retryAfter: 30 });
}
