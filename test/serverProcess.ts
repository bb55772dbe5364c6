import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface ServerProcess {
	/** Such as `http://127.0.0.1:41234`. */
	url: string;
	/** The process that serves, not one that started it. */
	pid: number;
	/** Signs a new user up; resolves to the cookie. */
	register(username: string, password?: string): Promise<string>;
	/** Ends it with all that it started and waits until it has ended; resolves to its exit code, null after a signal. */
	stop(signal?: NodeJS.Signals): Promise<number | null>;
	/** Resolves to its exit code when it ends, null after a signal. */
	ended: Promise<number | null>;
}

export interface ServerOptions {
	/** By default the built program of this clone. */
	command?: string;
	args: readonly string[];
	cwd?: string;
	env?: Record<string, string>;
}

/** Registers what ends with a test, or with all tests of a file. */
export interface Teardown {
	teardown(end: () => Promise<void>): void;
}

/** How long a server may take until it is ready. */
const startMs = 10 * 60_000;

export const serveArgs = (dataDir: string, ...rest: string[]): string[] => [
	'cli/bin/stowage.js',
	'serve',
	'--port',
	'0',
	'--data-dir',
	dataDir,
	...rest,
];

/** Without conversions and pictures, whose programs and sandboxes are tried at each start: that is a third of all it costs. */
export const plainArgs = (dataDir: string, ...rest: string[]): string[] =>
	serveArgs(dataDir, '--plugins', '{"@stowage/handbrake":false,"@stowage/preview":false}', ...rest);

/** Starts a server as a process of its own and waits until it prints its address. It ends with the test. */
export async function startServer(
	t: Teardown,
	{ command = process.execPath, args, cwd, env }: ServerOptions,
): Promise<ServerProcess> {
	// A group of its own: what the command starts in turn ends with it.
	const child = spawn(command, args, {
		cwd,
		env: { ...process.env, NODE_OPTIONS: '', ...env },
		stdio: ['ignore', 'pipe', 'pipe'],
		detached: true,
	});
	const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
	const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
		if (child.exitCode === null && child.signalCode === null) {
			const closed = once(child, 'close');
			process.kill(-(child.pid as number), signal);
			await closed;
		}
		return child.exitCode;
	};
	t.teardown(async () => {
		await stop('SIGKILL');
	});
	const url = await readyAddress(child);
	return {
		url,
		pid: child.pid as number,
		stop,
		ended,
		async register(username, password = 'correct horse') {
			const answer = await fetch(`${url}/api/register`, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({ username, password, passwordConfirm: password }),
			});
			if (!answer.ok) throw new Error(`${username} was not registered: ${await answer.text()}`);
			return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
		},
	};
}

function readyAddress(child: ChildProcess): Promise<string> {
	const { stdout, stderr } = child;
	if (stdout === null || stderr === null) throw new Error('The server has no output.');
	return new Promise((resolve, reject) => {
		let output = '';
		const timer = setTimeout(() => reject(new Error(`The server did not start in time: ${output}`)), startMs);
		stderr.on('data', (chunk: Buffer) => {
			output += chunk.toString();
		});
		createInterface({ input: stdout }).on('line', (line) => {
			const [, address] = /ready at (\S+)/.exec(line) ?? [];
			if (address === undefined) return;
			clearTimeout(timer);
			resolve(address);
		});
		child.on('error', reject);
		child.on('exit', (code) => {
			clearTimeout(timer);
			reject(new Error(`The server ended with ${code}: ${output}`));
		});
	});
}
