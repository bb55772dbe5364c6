import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import { serveArgs, startServer } from '../serverProcess.js';
import { type Client, continueUpload, newJob, Refusal, temporaryFolder } from './uploading.js';

const run = promisify(execFile);
/** A call on a missing disk is refused within this time, under any load. */
const longestRefusalMs = 10_000;
/** The calls of each lane in each phase. */
const callsInPhase = 6;

type Phase = 'whole' | 'leaving' | 'away' | 'read-only';
interface Answer {
	user: 'ada' | 'bob';
	call: string;
	phase: Phase;
	status: number;
	ms: number;
}

/**
 * Two homes on two disks, each with uploads, listings, downloads and archives under way, again and again. One disk is
 * taken out of the mount tree, and later made read-only: the other home is not affected, calls on the lost one are
 * refused, and no acknowledged file is lost. Needs root.
 */
export async function lostRoot(t: ExecutionContext, rounds: number): Promise<void> {
	const dataDir = await temporaryFolder(t);
	const [store, far] = [path.join(dataDir, 'store'), path.join(dataDir, 'far')];
	for (const folder of [store, far, path.join(dataDir, 'files')]) await mkdir(folder);
	await mountDisk(t, path.join(dataDir, 'files'));
	// Mounted at another place too, so that it keeps its files while it is detached.
	await mountDisk(t, store);
	const attach = () => run('mount', ['--bind', store, far]);
	const detach = () => run('umount', ['-l', far]);
	await attach();
	t.teardown(async () => void (await detach().catch(() => {})));

	const server = await startServer(t, {
		args: serveArgs(dataDir, '--log-level', 'error', '--public-listing', 'everyone'),
	});
	await command(dataDir, ['root', 'add', 'far', path.join(far, 'stowage')]);
	await command(dataDir, ['user', 'add', 'bob', '--root', 'far'], 'correct horse\n');
	const cookies = { ada: await server.register('ada'), bob: await signIn(server.url, 'bob') };
	const client = (user: 'ada' | 'bob'): Client => ({ url: server.url, cookie: cookies[user] });
	for (const user of ['ada', 'bob'] as const)
		await postForm(client(user), '/api/upload/public', `${user}.txt`, 'for all');

	let phase: Phase = 'whole';
	let isOver = false;
	const answers: Answer[] = [];
	/** SHA-256 of the acknowledged files, by user and name. */
	const acknowledged = { ada: new Map<string, string>(), bob: new Map<string, string>() };
	const lanes = (['ada', 'bob'] as const).flatMap((user) =>
		Object.entries(calls(client(user), acknowledged[user], user === 'ada')).map(async ([call, once]) => {
			for (let n = 0; !isOver; n++) {
				const [began, before] = [performance.now(), phase];
				const status = await once(n);
				// The answer of a call during which the disk was detached or attached is arbitrary.
				const during = before === phase ? phase : 'leaving';
				answers.push({ user, call, phase: during, status, ms: performance.now() - began });
				// Bounds the bytes on the disks, which are in memory.
				await wait(30);
			}
		}),
	);
	const ended = Promise.all(lanes);
	const work = async (next: Phase) => {
		phase = next;
		const begin = answers.length;
		for (;;) {
			const counts = new Map<string, number>();
			for (const { user, call, phase: during } of answers.slice(begin))
				if (during === next) counts.set(`${user} ${call}`, (counts.get(`${user} ${call}`) ?? 0) + 1);
			if (counts.size === lanes.length && Math.min(...counts.values()) >= callsInPhase) return;
			await Promise.race([wait(50), ended]);
		}
	};
	const ready = async () => {
		const answer = await fetch(`${server.url}/api/ready`);
		return { code: answer.status, ...((await answer.json()) as { checks: Record<string, string> }) };
	};
	const publicListing = async () => {
		const answer = await fetch(`${server.url}/api/browse?type=public`, { headers: { cookie: cookies.ada } });
		return { code: answer.status, ...((await answer.json()) as { entries: unknown[]; missing?: string[] }) };
	};
	const assertFaulty = async (says: string) => {
		// An answer may be half a second old.
		let found = await ready();
		for (let tries = 0; found.code === 200 && tries < 50; tries++) {
			await wait(100);
			found = await ready();
		}
		t.deepEqual([found.code, found.checks.storage], [503, 'unavailable'], says);
		const findings = JSON.parse(await command(dataDir, ['doctor', '--json'], '', 2)) as {
			what: string;
			state: string;
			message: string;
		}[];
		const wrong = findings.filter(({ what, state }) => what === 'storage root' && state === 'error');
		t.deepEqual(
			wrong.map((each) => each.message.split(' ')[0]),
			['far'],
			says,
		);
	};
	const assertWhole = async () => {
		for (let until = performance.now() + 60_000; (await ready()).code !== 200; await wait(100)) {
			if (performance.now() > until) throw new Error(`The root did not recover: ${JSON.stringify(await ready())}`);
		}
		t.is((await publicListing()).missing, undefined);
		for (const [name, hash] of [...acknowledged.bob]) {
			const bytes = await readFile(path.join(store, 'stowage/users/bob', name)).catch(() => undefined);
			t.true(bytes !== undefined && sha256(bytes) === hash, `${name} was acknowledged`);
		}
	};

	for (let round = 0; round < rounds; round++) {
		await work('whole');
		phase = 'leaving';
		await detach();
		await work('away');
		t.deepEqual(await readdir(far), [], 'nothing is written to the empty mount point');
		const listing = await publicListing();
		t.deepEqual([listing.code, listing.entries.length, listing.missing], [200, 1, ['bob']]);
		await assertFaulty('away');
		phase = 'leaving';
		await attach();
		await assertWhole();

		await work('whole');
		phase = 'leaving';
		// Refused as long as a file is written.
		while (!(await remount(far, 'ro'))) await wait(5);
		await work('read-only');
		await assertFaulty('read-only');
		phase = 'leaving';
		await remount(far, 'rw');
		await assertWhole();
	}
	isOver = true;
	await ended;

	const of = (user: string, ...phases: Phase[]) =>
		answers.filter((each) => each.user === user && phases.includes(each.phase));
	t.deepEqual(
		answers.filter(({ user, status }) => user === 'ada' && status !== 200),
		[],
		'the home on the other disk is not affected',
	);
	t.deepEqual(
		of('bob', 'whole').filter(({ status }) => status !== 200),
		[],
	);
	t.deepEqual(
		of('bob', 'away').filter(({ status, ms }) => status !== 503 || ms > longestRefusalMs),
		[],
	);
	const written = of('bob', 'read-only').filter(({ call }) => call === 'form' || call === 'chunks');
	t.deepEqual(
		written.filter(({ status, ms }) => status !== 503 || ms > longestRefusalMs),
		[],
	);
	const slowest = Math.max(...of('bob', 'away').map(({ ms }) => ms));
	t.log(
		`${of('ada', 'whole', 'leaving', 'away', 'read-only').length} calls on the other disk, none refused; ${of('bob', 'away').length} on the lost disk refused, the slowest after ${Math.round(slowest)} ms; ${acknowledged.bob.size + acknowledged.ada.size} files whole`,
	);
}

/** The calls of one user, each resolving to the status of its answer. */
function calls(
	client: Client,
	files: Map<string, string>,
	isStaying: boolean,
): Record<string, (n: number) => Promise<number>> {
	const get = async (address: string, use: (answer: Response) => Promise<void>) => {
		const answer = await fetch(`${client.url}${address}`, { headers: { cookie: client.cookie } });
		if (answer.ok) await use(answer);
		else await answer.text();
		return answer.status;
	};
	const upload = async (name: string, size: number, way: 'form' | 'chunks') => {
		const job = newJob(name, size, way);
		const status = await continueUpload(client, job).then(() => 200, statusOf);
		if (status === 200) files.set(name, sha256(job.bytes));
		return status;
	};
	return {
		form: (n) => upload(`form ${n}`, 20_000, 'form'),
		chunks: (n) => upload(`chunks ${n}`, 150_000, 'chunks'),
		// Lists all users' public files; it may lack those of the missing disk without being a failure.
		...(isStaying
			? {
					'public listing': () => get('/api/browse?type=public', readJson),
					search: () => get('/api/browse?type=public&search=o', readJson),
				}
			: {}),
		listing: () => get('/api/browse?type=private', readJson),
		download: (n) => {
			const [name = 'Public/none', hash] = [...files][n % Math.max(files.size, 1)] ?? [];
			if (hash === undefined) return get('/api/browse?type=private', readJson);
			return get(`/api/download/${encodeURIComponent(name)}?type=private`, async (answer) => {
				if (sha256(new Uint8Array(await answer.arrayBuffer())) !== hash) throw new Error(`${name} has other bytes.`);
			});
		},
		archive: async () => {
			const answer = await fetch(`${client.url}/api/downloadZip`, {
				method: 'POST',
				headers: { cookie: client.cookie, 'content-type': 'application/json' },
				body: JSON.stringify({ files: [{ path: 'Public' }], type: 'private', directory: '' }),
			});
			await answer.arrayBuffer();
			return answer.status;
		},
	};
}

async function readJson(answer: Response): Promise<void> {
	await answer.json();
}

function statusOf(error: unknown): number {
	if (error instanceof Refusal) return error.status;
	throw error;
}

async function mountDisk(t: ExecutionContext, at: string): Promise<void> {
	await run('mount', ['-t', 'tmpfs', '-o', 'size=1g,mode=755', 'stowage-test', at]);
	t.teardown(async () => void (await run('umount', ['-l', at])));
}

async function remount(at: string, mode: 'ro' | 'rw'): Promise<boolean> {
	return run('mount', ['-o', `remount,bind,${mode}`, at]).then(
		() => true,
		() => false,
	);
}

function sha256(bytes: Uint8Array): string {
	return createHash('sha256').update(bytes).digest('hex');
}

async function postForm({ url, cookie }: Client, address: string, name: string, content: string): Promise<void> {
	const form = new FormData();
	form.set('file', new Blob([content]), name);
	const answer = await fetch(`${url}${address}`, { method: 'POST', body: form, headers: { cookie } });
	if (!answer.ok) throw new Error(`${name} was answered ${answer.status}: ${await answer.text()}`);
}

async function signIn(url: string, username: string): Promise<string> {
	const body = JSON.stringify({ username, password: 'correct horse' });
	const answer = await fetch(`${url}/api/login`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body,
	});
	return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

/** Runs a command beside the server; resolves to its output. */
export async function command(dataDir: string, words: readonly string[], input = '', expected = 0): Promise<string> {
	const args = ['cli/bin/stowage.js', ...words, '--data-dir', dataDir, '--log-level', 'error'];
	const child = spawn(process.execPath, args, {
		stdio: ['pipe', 'pipe', 'inherit'],
		env: { ...process.env, NODE_OPTIONS: '' },
	});
	child.stdin.end(input);
	const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
	if (code !== expected) throw new Error(`${words.join(' ')} ended with ${code}: ${output}`);
	return output;
}
