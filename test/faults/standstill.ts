import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { answerOf } from '../answerOf.js';
import type { Cluster, ClusterNode } from './cluster.js';
import { call, jsonOf, sides } from './clusterSteps.js';

const frozenMs = 40_000;
/** Of one stop: users who move, copy and upload, and users whose homes move to another disk meanwhile. */
const workers = 7;
const movers = 3;
const movedFiles = 150;

/** What a user does around one stop of a node. */
interface Subject {
	/** Begins what the stop interrupts. */
	begin(here: ClusterNode): Promise<void>;
	/** What is done at the other node while the first one stands still. Resolves once it has ended there. */
	meanwhile(there: ClusterNode): Promise<void>;
	/** Once the first one goes on. */
	check(here: ClusterNode, there: ClusterNode): Promise<void>;
}

interface Counts {
	rounds: number;
	/** Copies that were complete before the node went on. */
	copied: number;
	/** Moves of homes by who ran them when the node stopped. */
	moves: Record<string, number>;
	/** Uploads into such homes that were not acknowledged, by what was answered. */
	refused: Record<string, number>;
}

/**
 * Stops a node for 40 s, again and again, in the midst of what ten users do: moves, a copy and an upload each, or a
 * move of the home to another disk and back with uploads into it. The other node is asked for the same meanwhile.
 * Nothing is lost, doubled or overwritten.
 */
export async function standStill(t: ExecutionContext, cluster: Cluster, stops: number): Promise<void> {
	const { nodes, filesDir } = cluster;
	const far = `${filesDir} far`;
	await mkdir(far);
	await nodes[0].command('root', 'add', 'far', far);
	const roots = { local: filesDir, far };
	const counts: Counts = { rounds: 0, copied: 0, moves: {}, refused: {} };
	const names = Array.from({ length: workers + movers }, (_, n) => `still${n}`);
	const cookies = await Promise.all(names.map((name) => nodes[0].server.register(name)));
	const homes = await Promise.all(
		names.slice(workers).map((name, n) => movingHome(t, cluster, roots, name, cookies[workers + n] ?? '', counts)),
	);
	for (let stop = 0; stop < stops; stop++) {
		const [here, there] = sides(cluster, stop);
		const working = names.slice(0, workers).map((name, n) => {
			const home = path.join(filesDir, 'users', name);
			return prepareWork(t, here, home, cookies[n] ?? '', stop, counts);
		});
		const subjects: Subject[] = [
			...(await Promise.all(working)),
			...(await Promise.all(homes.map((home) => home(stop)))),
		];
		await Promise.all(subjects.map((subject) => subject.begin(here)));
		await wait((stop * 370) % 2900);
		process.kill(here.server.pid, 'SIGSTOP');
		const goesOn = wait(frozenMs).then(() => process.kill(here.server.pid, 'SIGCONT'));
		await Promise.all(subjects.map((subject) => subject.meanwhile(there)));
		await goesOn;
		while ((await call(here, 'GET', 'ready?of=node')).status !== 200) await wait(200);
		await Promise.all(subjects.map((subject) => subject.check(here, there)));
		counts.rounds += subjects.length;
	}
	const listed = (counts: Record<string, number>) => Object.entries(counts).map(([what, count]) => `${count} ${what}`);
	t.log(
		`${stops} stops of ${frozenMs} ms, ${counts.rounds} rounds: ${stops * workers} with 20 moves, a copy of 60 files and an upload (${counts.copied} copies were complete meanwhile), ${stops * movers} moves of homes (${listed(counts.moves).join(', ')})`,
	);
	t.log(`Uploads into homes that moved and were not acknowledged: ${listed(counts.refused).join('; ')}`);
}

/** Moves of twenty files, which the other node is asked for as well, a copy and an upload. */
async function prepareWork(
	t: ExecutionContext,
	here: ClusterNode,
	home: string,
	cookie: string,
	stop: number,
	counts: Counts,
): Promise<Subject> {
	const label = `${path.basename(home)}, stop ${stop}`;
	const top = `${stop}`;
	const at = (name: string) => path.join(home, top, name);
	const folder = async (directory: string, folderName: string) =>
		t.is((await call(here, 'POST', 'createFolder', cookie, { type: 'private', directory, folderName })).status, 200);
	await folder('', top);
	for (const name of ['set', 'copied', 'loose', 'left', 'right']) await folder(top, name);
	const expected = new Map<string, string>();
	for (let n = 0; n < 60; n++) expected.set(`${n}.txt`, `${label} ${n} `.repeat(5_000));
	for (const [name, content] of expected) await writeFile(at(`set/${name}`), content);
	for (let n = 0; n < 20; n++) await writeFile(at(`loose/${n}.txt`), `loose ${n}`);
	const bytes = Buffer.alloc(30 * 1024 ** 2, `${label} `);
	const tus = { cookie, 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' };
	const encoded = (text: string) => Buffer.from(text).toString('base64');
	const begun = await answerOf(new URL('/api/uploads', here.url), 'POST', {
		...{ cookie, 'tus-resumable': '1.0.0', 'upload-length': `${bytes.length}` },
		'upload-metadata': `filename ${encoded('film.bin')},directory ${encoded(top)}`,
	});
	const location = begun.headers.location ?? '';
	const send = (to: ClusterNode, offset: number) =>
		answerOf(new URL(location, to.url), 'PATCH', { ...tus, 'upload-offset': `${offset}` }, bytes.subarray(offset));
	const move = (to: ClusterNode, n: number, target: string) =>
		call(to, 'POST', 'moveItem', cookie, {
			...{ type: 'private', fromPath: `${top}/loose/${n}.txt`, toPath: `${top}/${target}/${n}.txt` },
		}).catch((error: Error) => ({ status: 0, error }));
	const twenty = Array.from({ length: 20 }, (_, n) => n);
	let sending: Promise<unknown> = Promise.resolve();
	let moving: Promise<{ status: number }[]> = Promise.resolve([]);
	let others: { status: number }[] = [];

	async function endOfUpload(there: ClusterNode): Promise<void> {
		for (;;) {
			const { status, headers } = await answerOf(new URL(location, there.url), 'HEAD', tus);
			const offset = Number(headers['upload-offset']);
			if (status === 200 && offset === bytes.length) return;
			if (status === 200) await send(there, offset).catch(() => undefined);
			await wait(500);
		}
	}

	return {
		async begin() {
			const items = [{ path: `${top}/set` }];
			const copy = await call(here, 'POST', 'jobs', cookie, {
				kind: 'copy',
				type: 'private',
				directory: `${top}/copied`,
				items,
			});
			t.is(copy.status, 202, `${label}: the copy`);
			sending = send(here, 0).catch(() => undefined);
			moving = Promise.all(twenty.map((n) => move(here, n, 'left')));
		},
		async meanwhile(there) {
			// Of each file that the other one has not moved yet, or is moving.
			others = await Promise.all(twenty.map((n) => move(there, n, 'right')));
			const jobs = async () =>
				jsonOf(await call(there, 'GET', 'jobs', cookie)) as { status: string; endTime: number | null }[];
			const upload = endOfUpload(there);
			const until = performance.now() + frozenMs - 5000;
			while ((await jobs()).filter(({ endTime }) => endTime !== null).length <= stop && performance.now() < until)
				await wait(500);
			if ((await jobs())[0]?.status === 'completed' && (await jobs()).length > stop) counts.copied++;
			await upload;
		},
		async check(_, there) {
			await sending;
			const moved = await moving;
			for (;;) {
				const jobs = jsonOf(await call(there, 'GET', 'jobs', cookie)) as { status: string; endTime: number | null }[];
				if (jobs.every(({ endTime }) => endTime !== null)) break;
				await wait(500);
			}
			const found = await filesOf(path.join(home, top));
			for (const [name, content] of expected) {
				t.is(found.get(`set/${name}`), hashOf(content), `${label}: the original of ${name}`);
				t.is(found.get(`copied/set/${name}`), hashOf(content), `${label}: the copy of ${name}`);
			}
			const below = (...names: string[]) =>
				[...found.keys()].filter((file) => names.some((name) => file.startsWith(`${name}/`))).length;
			t.is(below('copied'), expected.size, `${label}: one copy`);
			t.is(found.get('film.bin'), hashOf(bytes), `${label}: the upload`);
			for (const n of twenty) {
				const places = ['loose', 'left', 'right'].filter(
					(place) => found.get(`${place}/${n}.txt`) === hashOf(`loose ${n}`),
				);
				t.is(places.length, 1, `${label}: ${n}.txt lies in ${places}`);
				if (moved[n]?.status === 200 && others[n]?.status !== 200) t.deepEqual(places, ['left'], label);
				if (others[n]?.status === 200 && moved[n]?.status !== 200) t.deepEqual(places, ['right'], label);
			}
			t.is(below('loose', 'left', 'right'), 20, `${label}: nothing is doubled`);
			t.is(found.size, 2 * expected.size + 21, `${label}: nothing else is there`);
			await rm(path.join(home, top), { recursive: true });
		},
	};
}

/** A home that moves to the other root at each stop, while small files are uploaded into it at both nodes. */
async function movingHome(
	t: ExecutionContext,
	{ nodes, galera, database }: Cluster,
	roots: { local: string; far: string },
	name: string,
	cookie: string,
	counts: Counts,
): Promise<(stop: number) => Promise<Subject>> {
	const homeIn = (root: keyof typeof roots) => path.join(roots[root], 'users', name);
	/** SHA-256 of each file that must be there, and the names of all that may be. */
	const expected = new Map<string, string>();
	const sent = new Set<string>();
	for (let n = 0; n < movedFiles; n++) {
		const file = `folder ${n % 10}/${n}.bin`;
		const bytes = Buffer.alloc((n * 7919) % 200_000, `${name} ${n} `);
		await mkdir(path.dirname(path.join(homeIn('local'), file)), { recursive: true });
		await writeFile(path.join(homeIn('local'), file), bytes);
		expected.set(file, hashOf(bytes));
	}

	return async (stop) => {
		const label = `${name}, stop ${stop}`;
		const to = stop % 2 === 0 ? 'far' : 'local';
		const { job: id } = JSON.parse(
			await nodes[stop % 2 === 0 ? 1 : 0].command('user', 'move-root', name, to, '--no-wait', '--json'),
		);
		let here: ClusterNode | undefined;
		let isOver = false;
		t.teardown(() => {
			isOver = true;
		});
		let uploading: Promise<unknown> = Promise.resolve();

		async function uploadsAt(node: ClusterNode, who: string): Promise<void> {
			for (let n = 0; !isOver; n++) {
				const file = `${who} ${stop}, ${n}.txt`;
				const content = `${name} ${file} `.repeat(50);
				const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="${file}"\r\n\r\n`;
				const headers = { cookie, 'content-type': 'multipart/form-data; boundary=b' };
				sent.add(file);
				const body = Buffer.from(`${head}${content}\r\n--b--\r\n`);
				const answer = await answerOf(new URL('/api/upload', node.url), 'POST', headers, body).catch(() => undefined);
				// What a node had begun when it stopped is given up by its connection, or refused, as all is while the home is frozen.
				if (answer?.status === 200) expected.set(file, hashOf(content));
				else {
					const why = answer === undefined ? 'broken off' : `${answer.status} ${answer.body}`;
					// Each of these may be repeated.
					t.true([undefined, 408, 423, 503].includes(answer?.status), `${label}: ${file}: ${why}`);
					counts.refused[why] = (counts.refused[why] ?? 0) + 1;
				}
				await wait(300);
			}
		}

		const job = async (at: ClusterNode) => jsonOf(await call(at, 'GET', `jobs/${id}`, cookie));
		return {
			async begin(at) {
				here = at;
				uploading = uploadsAt(here, 'here');
			},
			async meanwhile(there) {
				const [row] = await galera.nodes[0].query(`select status, holder from ${database}.jobs where id = '${id}'`);
				const pid = Number(String(row?.holder).split(' ')[3]);
				const who =
					pid === here?.server.pid
						? 'ran in it'
						: row?.status === 'processing'
							? 'ran in the other one'
							: `${row?.status}`;
				counts.moves[who] = (counts.moves[who] ?? 0) + 1;
				const other = uploadsAt(there, 'there');
				const until = performance.now() + frozenMs;
				while ((await job(there)).endTime === null && performance.now() < until) await wait(500);
				uploading = Promise.all([uploading, other]);
			},
			async check(_, there) {
				while ((await job(there)).endTime === null) await wait(500);
				isOver = true;
				await uploading;
				const { status, error } = await job(there);
				t.deepEqual({ status, error }, { status: 'completed', error: null }, label);
				const found = await filesOf(homeIn(to));
				const wrong = [...expected].filter(([file, hash]) => found.get(file) !== hash).map(([file]) => file);
				t.deepEqual(wrong, [], `${label}: all acknowledged files are whole`);
				const foreign = [...found.keys()].filter((file) => !expected.has(file) && !sent.has(file));
				t.deepEqual(foreign, [], `${label}: nothing else is there`);
				const other = await readdir(path.join(roots[to === 'far' ? 'local' : 'far'], 'users'));
				t.false(other.includes(name), `${label}: the home is on no other root`);
			},
		};
	};
}

/** Paths of the files below a folder, with the SHA-256 of what is in them. */
async function filesOf(folder: string): Promise<Map<string, string>> {
	const found = await readdir(folder, { recursive: true, withFileTypes: true });
	const files = found.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
	const hashes = new Map<string, string>();
	for (const file of files) hashes.set(path.relative(folder, file), hashOf(await readFile(file)));
	return hashes;
}

function hashOf(content: string | Uint8Array): string {
	return createHash('sha256').update(content).digest('hex');
}
