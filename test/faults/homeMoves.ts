import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { findJob, ResultOf } from '@stowage/contract';
import type { ExecutionContext } from 'ava';
import { plainArgs, startServer } from '../serverProcess.js';
import { command } from './lostRoot.js';
import { temporaryFolder } from './uploading.js';

type MoveAnswer = ResultOf<typeof findJob>;

const fileCount = 400;

/**
 * Moves a home to another root and back while its user uploads, and kills the server at a random moment of each move.
 * The next server continues the move: each time the home is complete on the target root, with all acknowledged
 * uploads, and on no other, and its link works.
 */
export async function killedWhileMoving(t: ExecutionContext, rounds: number): Promise<void> {
	const dataDir = await temporaryFolder(t);
	const roots = { local: path.join(dataDir, 'files'), big: path.join(dataDir, 'big') };
	const start = () => startServer(t, { args: plainArgs(dataDir, '--log-level', 'error') });
	let server = await start();
	const cookie = await server.register('ada');
	await command(dataDir, ['root', 'add', 'big', roots.big]);
	/** SHA-256 of each expected file, by path. */
	const expected = await writeFiles(path.join(roots.local, 'users/ada'));
	/** The names of all uploads, acknowledged or not. */
	const sent = new Set<string>();

	const linked = 'folder 3/3.bin';
	const linkedHash = String(expected.get(linked));
	const made = await fetch(`${server.url}/api/generateTempLink`, {
		method: 'POST',
		headers: { cookie, 'content-type': 'application/json' },
		body: JSON.stringify({ filePath: linked, expiration: '1d' }),
	});
	const { token } = (await made.json()) as { token: string };

	const readJob = async (id: string): Promise<MoveAnswer> =>
		(await (await fetch(`${server.url}/api/jobs/${id}`, { headers: { cookie } })).json()) as MoveAnswer;
	const endOfMove = async (id: string): Promise<MoveAnswer> => {
		for (;;) {
			const job = await readJob(id);
			if (job.endTime !== null) return job;
			await wait(20);
		}
	};
	/** Uploads one small file after the other until the server has ended. */
	const uploadUntilKilled = async (round: number) => {
		for (let n = 0; ; n++) {
			const name = `round ${round}, ${n}.txt`;
			const form = new FormData();
			form.set('file', new Blob([name.repeat(50)]), name);
			sent.add(name);
			try {
				const answer = await fetch(`${server.url}/api/upload`, { method: 'POST', body: form, headers: { cookie } });
				await answer.arrayBuffer();
				// The home is frozen for some seconds.
				if (answer.ok) expected.set(name, sha256(Buffer.from(name.repeat(50))));
				else if (answer.status !== 423) throw new Error(`${name} was answered ${answer.status}.`);
			} catch (error) {
				// The error of fetch if the server does not answer.
				if (error instanceof TypeError) return;
				throw error;
			}
			await wait(50);
		}
	};
	const assertWhole = async (to: keyof typeof roots, when: string) => {
		const found = await hashesOf(path.join(roots[to], 'users/ada'));
		const wrong = [...expected].filter(([name, hash]) => found.get(name) !== hash).map(([name]) => name);
		t.deepEqual(wrong, [], `${when}: all acknowledged files exist`);
		const foreign = [...found.keys()].filter((name) => !expected.has(name) && !sent.has(name));
		t.deepEqual(foreign, [], `${when}: no other file exists`);
		const other = to === 'big' ? roots.local : roots.big;
		t.false((await readdir(path.join(other, 'users'))).includes('ada'), `${when}: the home is on no other root`);
		const answer = await fetch(`${server.url}/api/temp/${token}`);
		t.is(sha256(new Uint8Array(await answer.arrayBuffer())), linkedHash, `${when}: the link works`);
	};

	let wholeMs = 0;
	let slowestMs = 0;
	const moments = new Map<string, number>();
	for (let round = 0; round <= rounds; round++) {
		const to = round % 2 === 0 ? 'big' : 'local';
		const started = await command(dataDir, ['user', 'move-root', 'ada', to, '--no-wait', '--json']);
		const { job: id } = JSON.parse(started) as { job: string };
		let beganAt = performance.now();
		// The first move is not interrupted: it measures how long a move takes.
		if (round > 0) {
			const uploads = uploadUntilKilled(round);
			await wait(Math.random() * wholeMs);
			const { status, detail } = await readJob(id);
			const moment = status === 'processing' ? String(detail?.step ?? 'beginning') : status;
			moments.set(moment, (moments.get(moment) ?? 0) + 1);
			await server.stop('SIGKILL');
			await uploads;
			server = await start();
			beganAt = performance.now();
		}
		const { status, error } = await endOfMove(id);
		t.deepEqual({ status, error }, { status: 'completed', error: null }, `round ${round}`);
		const tookMs = performance.now() - beganAt;
		if (round === 0) wholeMs = tookMs;
		else slowestMs = Math.max(slowestMs, tookMs);
		await assertWhole(to, `round ${round}`);
	}
	const kills = [...moments].map(([moment, count]) => `${count} ${moment}`).join(', ');
	t.log(
		`${rounds} kills (${kills}), ${expected.size} files whole; a move took ${Math.round(wholeMs)} ms, and after a kill at most ${Math.round(slowestMs)} ms more`,
	);
}

/** Files of many sizes in some folders; resolves to their hashes by path. */
async function writeFiles(home: string): Promise<Map<string, string>> {
	const hashes = new Map<string, string>();
	for (let n = 0; n < fileCount; n++) {
		const name = `folder ${n % 20}/${n}.bin`;
		const bytes = Buffer.alloc((n * 7919) % 200_000, `${n} `);
		await mkdir(path.join(home, path.dirname(name)), { recursive: true });
		await writeFile(path.join(home, name), bytes);
		hashes.set(name, sha256(bytes));
	}
	return hashes;
}

async function hashesOf(home: string): Promise<Map<string, string>> {
	const hashes = new Map<string, string>();
	for (const entry of await readdir(home, { recursive: true, withFileTypes: true })) {
		const at = path.join(entry.parentPath, entry.name);
		if (entry.isFile()) hashes.set(path.relative(home, at), sha256(await readFile(at)));
	}
	return hashes;
}

function sha256(bytes: Uint8Array): string {
	return createHash('sha256').update(bytes).digest('hex');
}
