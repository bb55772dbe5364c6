import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { ExecutionContext } from 'ava';
import { type Command, CommanderError } from 'commander';
import { execa } from 'execa';
import { createProgram } from '../src/program.js';
import { explain } from '../src/terminal/explain.js';

/** The program of the command line, as it is shipped. */
export const program = path.resolve('cli/bin/stowage.js');

/** Runs the command to its end, by the program of this clone or by another `file`. */
export async function stowage(
	args: readonly string[],
	options: { input?: string | Buffer; env?: Record<string, string>; timeout?: number; file?: string } = {},
) {
	const result = await execa(process.execPath, [options.file ?? program, ...args], {
		reject: false,
		input: options.input ?? '',
		...(options.timeout === undefined ? {} : { timeout: options.timeout }),
		env: { NODE_OPTIONS: '', ...options.env },
	});
	return { code: result.exitCode, stdout: result.stdout, stderr: result.stderr };
}

/** An empty data folder. It is removed after the test. */
export async function dataFolder(t: Pick<ExecutionContext, 'teardown'>): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-cli-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** Runs a command on a pseudo terminal and types the next answer at each prompt. Resolves to the output of the terminal. */
export async function onTerminal(args: readonly string[], answers: readonly (string | (() => string))[]) {
	const words = [process.execPath, program, ...args];
	const command = words.map((word) => `'${word}'`).join(' ');
	const running = execa('script', ['-qefc', command, '/dev/null'], { reject: false, env: { NODE_OPTIONS: '' } });
	const left = [...answers];
	let soFar = '';
	running.stdout.on('data', (shown: Buffer) => {
		// A prompt may arrive in parts.
		soFar += shown.toString();
		if (!/: $/.test(soFar)) return;
		const next = left.shift() ?? '';
		running.stdin.write(typeof next === 'string' ? next : next());
	});
	const { exitCode, stdout } = await running;
	return { code: exitCode, shown: stdout };
}

interface Output {
	stdout: string;
	stderr: string;
}

const currentRun = new AsyncLocalStorage<
	Output & { input: Readable; isTerminal: boolean; columns: number | undefined }
>();

/** Connects the standard streams of a command that runs in this process to its test. */
function redirectStreams(): void {
	const { stdin } = process;
	const { isTTY } = process.stderr;
	Object.defineProperty(process, 'stdin', { get: () => currentRun.getStore()?.input ?? stdin });
	Object.defineProperty(process.stderr, 'isTTY', { get: () => currentRun.getStore()?.isTerminal ?? isTTY });
	Object.defineProperty(process.stdout, 'isTTY', { get: () => currentRun.getStore()?.columns !== undefined });
	Object.defineProperty(process.stdout, 'columns', { get: () => currentRun.getStore()?.columns });
	for (const name of ['stdout', 'stderr'] as const) {
		const stream = process[name];
		const write = stream.write.bind(stream) as (...words: unknown[]) => boolean;
		stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
			const output = currentRun.getStore();
			if (output === undefined) return write(chunk, ...rest);
			output[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
			return true;
		}) as typeof stream.write;
		const print = (...words: unknown[]) => stream.write(`${words.map(String).join(' ')}\n`);
		console[name === 'stdout' ? 'log' : 'error'] = print;
	}
}
let isRedirected = false;

/**
 * Runs the command in this process, which costs a fraction of a new one, with `input` as its standard input. Standard
 * error is a terminal only with `isTerminal`, and standard output one of a width only with `columns`.
 */
export async function run(
	args: readonly string[],
	input: string | Buffer = '',
	{ isTerminal = false, columns }: { isTerminal?: boolean; columns?: number } = {},
): Promise<Output & { code: number }> {
	if (!isRedirected) redirectStreams();
	isRedirected = true;
	const output: Output = { stdout: '', stderr: '' };
	const terminal = { input: Readable.from([Buffer.from(input)]), isTerminal, columns };
	const code = await currentRun.run(Object.assign(output, terminal), async () => {
		const program = await createProgram(args);
		endByThrowing(program);
		try {
			await program.parseAsync(args, { from: 'user' });
			return 0;
		} catch (error) {
			if (error instanceof CommanderError) return error.exitCode;
			const { message, code } = explain(error);
			if (message !== undefined) output.stderr += `${message instanceof Error ? message.stack : message}\n`;
			return code;
		}
	});
	return { code, stdout: output.stdout.trimEnd(), stderr: output.stderr.trimEnd() };
}

function endByThrowing(command: Command): void {
	command.exitOverride();
	for (const each of command.commands) endByThrowing(each);
}
