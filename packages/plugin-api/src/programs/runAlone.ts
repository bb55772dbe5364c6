import { spawn } from 'node:child_process';
import { boundCommand } from './boundCommand.js';
import { killGroup } from './limitedProgram.js';
import { programEnvironment } from './programEnvironment.js';

/** More than a program says of itself. */
const maxOutput = 1024 * 1024;

/**
 * Runs a trusted program, such as one that says its version, in a session of its own, so without the terminal of this process, and with
 * none of its environment: a command of root that has become another user would lend them to that user, who may take over what the
 * program does. It ends with this process. Rejects as `execFile` does if it can't be started, fails, or takes longer than `timeout`
 * milliseconds; one that is missing may have the code 127.
 */
export function runAlone(
	file: string,
	args: readonly string[],
	{ timeout }: { timeout?: number } = {},
): Promise<{ stdout: string; stderr: string }> {
	return new Promise((resolve, reject) => {
		const command = boundCommand(file, args);
		const child = spawn(command.file, command.args, {
			detached: true,
			env: programEnvironment(),
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		child.on('error', reject);
		// It could not be started, and there may be no pipes.
		if (child.pid === undefined) return;
		const output = { stdout: '', stderr: '' };
		for (const name of ['stdout', 'stderr'] as const) {
			child[name].setEncoding('utf8').on('data', (text: string) => {
				output[name] = (output[name] + text).slice(0, maxOutput);
			});
		}
		let isLate = false;
		const timer = setTimeout(
			() => {
				isLate = true;
				killGroup(child);
			},
			timeout ?? 2 ** 31 - 1,
		);
		child.on('close', (code, signal) => {
			clearTimeout(timer);
			if (code === 0) resolve(output);
			else
				reject(
					Object.assign(new Error(`${file} failed: ${output.stderr}`), { ...output, code, signal, killed: isLate }),
				);
		});
	});
}
