import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ownerOf } from '../privileges/ownerOf.js';
import { addedRoots } from './unitFolders.js';

type Answer = { roots: string[] } | { fault: string };

/** Longer than a database makes anybody wait. The owner may stop that process at any time. */
const limitMs = 15_000;

/**
 * As `addedRoots`. Root stays root, and has a process of the data folder's owner open the database, but does not wait for it for ever.
 */
export async function addedRootsAsOwner(databaseUrl: string, dataDir: string): Promise<string[]> {
	const owner = process.geteuid?.() === 0 ? await ownerOf(dataDir) : undefined;
	if (owner === undefined) return addedRoots(databaseUrl);
	const { uid, gid } = owner;
	const program = fork(fileURLToPath(new URL('./addedRootsProgram.js', import.meta.url)), {
		uid,
		gid,
		cwd: '/',
		// The owner may take that process over, and has neither the terminal nor the environment of root by it.
		detached: true,
		env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
		execArgv: [],
		stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
	});
	try {
		program.send(databaseUrl);
		const answer = await answerOf(program, uid);
		if ('fault' in answer) throw new Error(answer.fault);
		return answer.roots;
	} finally {
		// It holds this process while it is connected, also if it was stopped.
		if (program.connected) program.disconnect();
		program.kill('SIGKILL');
		program.unref();
	}
}

function answerOf(program: ChildProcess, uid: number): Promise<Answer> {
	return new Promise((resolve) => {
		const timer = setTimeout(
			() => resolve({ fault: `the process of user ${uid} that reads it gave no answer in ${limitMs / 1000} s` }),
			limitMs,
		);
		program.once('message', (answer: Answer) => settle(answer));
		const cannotRun = { fault: `user ${uid} can't run the program` };
		program.once('error', () => settle(cannotRun));
		program.once('exit', () => settle(cannotRun));

		function settle(answer: Answer): void {
			clearTimeout(timer);
			resolve(answer);
		}
	});
}
