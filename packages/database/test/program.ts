import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ProgramEnd {
	/** The lines of its standard output. */
	lines: string[];
	errors: string;
	code: number | null;
	signal: NodeJS.Signals | null;
}

export interface Program {
	/** Resolves when it has written its first output. */
	firstOutput: Promise<void>;
	end: Promise<ProgramEnd>;
	/** Closes its standard input. */
	release(): void;
}

/** Runs one of the programs beside the tests as a process of its own, and resolves when it has ended. */
export function runProgram(name: string, ...args: string[]): Promise<ProgramEnd> {
	const { end, release } = startProgram(name, ...args);
	release();
	return end;
}

export function startProgram(name: string, ...args: string[]): Program {
	const file = fileURLToPath(new URL(`./programs/${name}.js`, import.meta.url));
	const child = spawn(process.execPath, [file, ...args], {
		stdio: ['pipe', 'pipe', 'pipe'],
	});
	let output = '';
	let errors = '';
	child.stderr.setEncoding('utf8').on('data', (text: string) => {
		errors += text;
	});
	const firstOutput = new Promise<void>((resolve) => {
		child.stdout.setEncoding('utf8').on('data', (text: string) => {
			output += text;
			resolve();
		});
	});
	const end = new Promise<ProgramEnd>((resolve, reject) => {
		child.once('error', reject);
		child.once('close', (code, signal) => {
			resolve({ lines: output.split('\n').filter(Boolean), errors, code, signal });
		});
	});
	return { firstOutput, end, release: () => void child.stdin.end() };
}
