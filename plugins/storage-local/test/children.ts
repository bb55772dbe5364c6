import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { run, temporaryFolder } from './steps.js';

const program = [fileURLToPath(new URL('child.js', import.meta.url))];

/** Begins a task of `child.ts` in another process; resolves when its storage is open. */
export async function startChild(t: ExecutionContext, ...args: string[]): Promise<ChildProcess> {
	const child = spawn(process.execPath, [...program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
	t.teardown(() => child.kill('SIGKILL'));
	ends.set(child, once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>);
	const output = { text: '' };
	outputs.set(child, output);
	child.stdout?.on('data', (chunk: Buffer) => {
		output.text += chunk.toString();
	});
	if (child.stdout) await once(child.stdout, 'data');
	return child;
}

const outputs = new WeakMap<ChildProcess, { text: string }>();
const ends = new WeakMap<ChildProcess, Promise<[code: number | null, signal: NodeJS.Signals | null]>>();

/** How the child ended, also if it has ended already. */
export async function endOf(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
	const [code = null, signal = null] = (await ends.get(child)) ?? [];
	return { code, signal };
}

/** Resolves once the output of the child contains `text`. */
export async function untilOutput(child: ChildProcess, text: string): Promise<void> {
	while (!outputs.get(child)?.text.includes(text)) await wait(10);
}

/** The output of the child so far. */
export function outputOf(child: ChildProcess): string {
	return outputs.get(child)?.text ?? '';
}

/** One system call. */
export interface TracedCall {
	name: string;
	text: string;
	/** The lines of the trace in which it began and ended. */
	begun: number;
	ended: number;
}

/** Runs a task of `child.ts` and resolves to its answer and the system calls after the storage was opened. */
export async function traceChild(
	t: ExecutionContext,
	options: readonly string[],
	...args: string[]
): Promise<{ answer: string | undefined; calls: TracedCall[] }> {
	const log = join(await temporaryFolder(t), 'trace');
	const strace = ['-f', '-y', '-s', '200', '-o', log, ...options];
	const { stdout } = await run('strace', [...strace, process.execPath, ...program, ...args]);
	const calls = parseTrace(await readFile(log, 'utf8'));
	const ready = calls.findIndex((call) => call.name === 'write' && call.text.includes('"ready'));
	return { answer: /^answer: (.*)$/m.exec(stdout)?.[1], calls: calls.slice(ready + 1) };
}

/** Calls in the order in which they ended; a call that another thread interrupted has two lines. */
function parseTrace(text: string): TracedCall[] {
	const calls: TracedCall[] = [];
	const unfinished = new Map<string, { text: string; begun: number }>();
	for (const [at, line] of text.split('\n').entries()) {
		const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
		const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
		if (rest.endsWith('<unfinished ...>')) {
			unfinished.set(thread, { text: rest.replace('<unfinished ...>', ''), begun: at });
			continue;
		}
		const before = resumed === undefined ? undefined : unfinished.get(thread);
		const whole = before === undefined ? rest : before.text + resumed;
		const name = /^\w+/.exec(whole)?.[0];
		if (name !== undefined) calls.push({ name, text: whole, begun: before?.begun ?? at, ended: at });
	}
	return calls;
}
