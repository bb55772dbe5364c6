import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ownerOf } from '../privileges/ownerOf.js';
import { addedRoots } from './unitFolders.js';

type Answer = { roots: string[] } | { fault: string };

/** As `addedRoots`. Root stays root, and has a process of the data folder's owner open the database. */
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
	program.send(databaseUrl);
	const ended = once(program, 'exit').then((): [Answer] => [{ fault: `user ${uid} can't run the program` }]);
	const [answer] = (await Promise.race([once(program, 'message'), ended])) as [Answer];
	if ('fault' in answer) throw new Error(answer.fault);
	return answer.roots;
}
