import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ownerOf } from '../privileges/ownerOf.js';
import { objectionToDatabase } from '../privileges/placesOfRoot.js';
import { addedRoots, isMissing } from './unitFolders.js';

type Answer = { roots: string[] } | { fault: string };

/** The time limit of that process: longer than a database makes anybody wait, and the owner may stop the process at any time. */
const limitMs = 15_000;

/** What root reads of the answer, for the owner may have that process say anything. */
const maxAnswerBytes = 1024 * 1024;
const maxRoots = 1000;

/**
 * Resolves to what `addedRoots` does. Root stays root, and has a process of the data folder's owner open the database,
 * but neither waits for it for ever nor relies on what it says: whether a unit can name these folders is for the caller
 * to see.
 */
export async function addedRootsAsOwner(databaseUrl: string, dataDir: string): Promise<string[]> {
	const isRoot = process.geteuid?.() === 0;
	const owner = isRoot ? await ownerOf(dataDir) : undefined;
	if (owner === undefined) {
		// Its folder may be the service's already, and there is nothing in it that root would open.
		if (isMissing(databaseUrl)) return [];
		const reason = isRoot ? await objectionToDatabase(databaseUrl, dataDir) : undefined;
		if (reason !== undefined) throw new Error(reason);
		return addedRoots(databaseUrl);
	}
	const { uid, gid } = owner;
	const program = spawn(process.execPath, [fileURLToPath(new URL('./addedRootsProgram.js', import.meta.url))], {
		uid,
		gid,
		cwd: '/',
		// The owner may take that process over, and has neither the terminal nor the environment of root by it.
		detached: true,
		env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
		stdio: ['pipe', 'pipe', 'ignore'],
	});
	try {
		// It may have ended.
		program.stdin.on('error', () => undefined).end(databaseUrl);
		const answer = await answerOf(program, uid);
		if ('fault' in answer) throw new Error(answer.fault);
		return answer.roots;
	} finally {
		// They hold this process while they are open, also if that one was stopped.
		program.stdin.destroy();
		program.stdout.destroy();
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
		const cannotRun = { fault: `user ${uid} can't run the program` };
		const unfit = { fault: `the process of user ${uid} that reads it gave an answer that is none` };
		const chunks: Buffer[] = [];
		let bytes = 0;
		program.once('error', () => settle(cannotRun));
		program.stdout?.on('data', (chunk: Buffer) => {
			bytes += chunk.length;
			if (bytes > maxAnswerBytes) settle(unfit);
			else chunks.push(chunk);
		});
		program.stdout?.once('end', () =>
			settle(bytes === 0 ? cannotRun : (parseAnswer(Buffer.concat(chunks).toString()) ?? unfit)),
		);

		function settle(answer: Answer): void {
			clearTimeout(timer);
			resolve(answer);
		}
	});
}

/** The answer that a text is; undefined for a text that is none. */
export function parseAnswer(text: string): Answer | undefined {
	let answer: unknown;
	try {
		answer = JSON.parse(text);
	} catch {
		return undefined;
	}
	if (typeof answer !== 'object' || answer === null) return undefined;
	const { roots, fault } = answer as Record<string, unknown>;
	if (typeof fault === 'string') return { fault: fault.slice(0, 1000) };
	if (!Array.isArray(roots) || roots.length > maxRoots) return undefined;
	return roots.every((each) => typeof each === 'string' && each.startsWith('/')) ? { roots } : undefined;
}
