import { killGroup, limitedCommand } from '@stowage/plugin-api';
import { lineReader } from './progress.js';
import { type Sandbox, sandboxArguments } from './sandbox.js';

export interface EncoderOptions {
	program: string;
	/** Undefined for limits only. */
	sandbox: Sandbox | undefined;
	memoryBytes: number;
	mayUseHardware: boolean;
}

export interface EncoderRun {
	/** Become its descriptors 3 and on. */
	files?: readonly number[];
	/** The files that it may write. */
	fileBytes?: number;
	signal: AbortSignal;
	onLine?: (line: string) => void;
}

export interface EncoderOutcome {
	/** 128 and the number of a signal, if one ended it. */
	code: number;
	/** Of its standard output, the end. */
	output: string;
	/** The last lines of its log. */
	log: string[];
}

const maxOutput = 4 * 1024 * 1024;
const maxLogLines = 40;

/** HandBrakeCLI as a child process with limits, in a sandbox if one is available. */
export class Encoder {
	constructor(readonly options: EncoderOptions) {}

	/** Whether it is isolated from this machine, except for the descriptors that it is lent. */
	get isSandboxed(): boolean {
		return this.options.sandbox !== undefined;
	}

	/** Runs it to its end. When the signal fires it is killed with all its child processes, and the signal's reason thrown once they have ended. */
	async run(args: readonly string[], { files = [], fileBytes, signal, onLine }: EncoderRun): Promise<EncoderOutcome> {
		// Only conversions need it, and loading it takes time.
		const { execa } = await import('execa');
		signal.throwIfAborted();
		const { program, sandbox, memoryBytes, mayUseHardware } = this.options;
		const whole = sandbox === undefined ? args : [...sandboxArguments(sandbox, program, mayUseHardware), ...args];
		const command = limitedCommand(sandbox?.bwrap ?? program, whole, {
			memoryBytes,
			openFiles: 256,
			priority: 'idle',
			endsWithInput: true,
			files,
			...(fileBytes === undefined ? {} : { fileBytes }),
			// It creates an unneeded folder there, and leaves it when it is killed.
			env: { TMPDIR: '/nonexistent' },
		});
		const child = execa(command.file, command.args, {
			...command.options,
			// Its types name small descriptors only.
			stdio: command.options.stdio as ['pipe', 'pipe', 'pipe', ...3[]],
			extendEnv: false,
			reject: false,
			buffer: false,
		});
		const end = () => killGroup(child);
		signal.addEventListener('abort', end, { once: true });
		let output = '';
		const log: string[] = [];
		const takeLine = onLine && lineReader(onLine);
		const takeLog = lineReader((line) => {
			log.push(line);
			if (log.length > maxLogLines) log.shift();
		});
		child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
			takeLine?.(chunk);
			output += chunk;
			// Cut seldom: each cut copies what is kept.
			if (output.length > 2 * maxOutput) output = output.slice(-maxOutput);
		});
		child.stderr?.setEncoding('utf8').on('data', takeLog);
		try {
			const { exitCode, signal: killedBy } = await child;
			// The shell that waits for it was killed: its child is killed, too.
			if (killedBy !== undefined) end();
			signal.throwIfAborted();
			return { code: exitCode ?? 128 + 9, output: output.slice(-maxOutput), log };
		} finally {
			signal.removeEventListener('abort', end);
		}
	}
}
