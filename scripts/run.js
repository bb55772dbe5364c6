import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this clone. */
export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Runs a command in the clone and resolves to its exit code. Signals to this process are forwarded to it. */
export function run(command, args, options = {}) {
	return new Promise((resolve, reject) => {
		const child = spawn(command, args, { cwd: root, stdio: 'inherit', ...options });
		const forward = (signal) => child.kill(signal);
		const { ppid } = process;
		// npm exits at a signal without forwarding it; the child must not be orphaned.
		const watch = setInterval(() => {
			if (process.ppid === ppid) return;
			clearInterval(watch);
			child.kill('SIGTERM');
		}, 500);
		process.on('SIGTERM', forward).on('SIGINT', ignore);
		child.on('error', reject);
		child.on('close', (code, signal) => {
			clearInterval(watch);
			process.off('SIGTERM', forward).off('SIGINT', ignore);
			resolve(code ?? (signal === 'SIGTERM' ? 143 : 1));
		});
	});
}

// The terminal sends SIGINT to the whole process group; this process waits until the child has exited.
function ignore() {}

/** A failure that its message says all of, and the code with which it ends a script. */
export class Failed extends Error {
	constructor(message, code = 1) {
		super(message);
		this.code = code;
	}
}

/** Like `run`, but a failure ends this process with the same code. */
export async function must(command, args, options) {
	const code = await run(command, args, options);
	if (code !== 0) process.exit(code);
}

/** The path of a program in node_modules. */
export function tool(file) {
	return path.join(root, 'node_modules', file);
}
