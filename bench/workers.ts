import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startMariadb } from '../packages/database/test/mariadb.js';
import { plainArgs, type ServerProcess, startServer } from '../test/serverProcess.js';
import { answersPerSecond } from './keptConnections.js';
import { median, processorSeconds } from './measure.js';
import { Processes } from './processes.js';
import { emptyFiles, megabyte, writeSource } from './sources.js';
import type { Figure, Survey } from './Workload.js';

const rangeBytes = 64 * 1024;
const fileBytes = 64 * megabyte;
const entries = 1_000;
const uploadBytes = 10_000;
const clients = 16;
/** Of each round for each server. */
const loadMs = 4_000;
const rounds = 5;

/** A server that is loaded. */
interface Side {
	server: ServerProcess;
	cookie: string;
	home: string;
}

interface Work {
	name: string;
	/** How many times the requests of one process several are to answer at least, for each core. */
	leastPerCore: number;
	/** Before each load; resolves to what makes the next request. */
	prepare(side: Side): Promise<() => readonly (string | Buffer)[]>;
}

/**
 * As many workers as there are cores against a server without workers, in turn: how many times the requests a second of
 * several clients at once and of one alone, and how many times the requests for each second of processor time, which
 * other load of the machine and the clients themselves disturb less. Ranges and lists are measured over SQLite, uploads
 * over MariaDB.
 */
export const workers: Survey = {
	name: 'workers',
	async *figures({ folder, scale }) {
		const cores = os.availableParallelism();
		const overSqlite = new Processes();
		try {
			const sides = await startSides(overSqlite, folder, cores, []);
			for (const work of [ranges, lists]) yield* compared(work, sides, cores, scale);
		} finally {
			await overSqlite.end();
		}
		const overMariadb = new Processes();
		try {
			const mariadb = await startMariadb();
			overMariadb.teardown(mariadb.close);
			const urls = [await mariadb.createDatabase(), await mariadb.createDatabase()];
			const [row] = await mariadb.query('select @@pid_file as file');
			const pid = Number(await readFile(String(row?.file), 'utf8'));
			const sides = await startSides(overMariadb, folder, cores, urls);
			yield* compared(uploads, sides, cores, scale, pid);
		} finally {
			await overMariadb.end();
		}
	},
};

const ranges: Work = {
	name: 'ranges of 64 kB',
	leastPerCore: 0.7,
	async prepare({ server, cookie }) {
		let n = 0;
		return () => {
			const start = (n++ * 7919 * 4096) % (fileBytes - rangeBytes);
			const range = `Range: bytes=${start}-${start + rangeBytes - 1}`;
			return [head(server, 'GET', '/api/download/served/large.bin?type=private', cookie, range)];
		};
	},
};

const lists: Work = {
	name: `lists of ${entries.toLocaleString('en-US')} entries`,
	leastPerCore: 0.7,
	async prepare({ server, cookie }) {
		const request = [head(server, 'GET', '/api/browse?type=private&directory=many', cookie)];
		return () => request;
	},
};

const uploads: Work = {
	name: 'uploads of 10 kB',
	leastPerCore: 0.5,
	async prepare({ server, cookie, home }) {
		const directory = path.basename(await mkdtemp(path.join(home, 'small-')));
		const content = Buffer.alloc(uploadBytes, 'stowage ');
		const field = (name: string, value: string) =>
			`--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
		const fields = field('type', 'private') + field('directory', directory);
		let n = 0;
		return () => {
			const begin = `${fields}--x\r\nContent-Disposition: form-data; name="file"; filename="${n++}.bin"\r\n\r\n`;
			const end = '\r\n--x--\r\n';
			const length = `Content-Length: ${begin.length + uploadBytes + end.length}`;
			const type = 'Content-Type: multipart/form-data; boundary=x';
			return [head(server, 'POST', '/api/upload', cookie, type, length) + begin, content, end];
		};
	},
};

function head({ url }: ServerProcess, method: string, address: string, cookie: string, ...more: string[]): string {
	const lines = [`${method} ${address} HTTP/1.1`, `Host: ${new URL(url).host}`, `Cookie: ${cookie}`, ...more];
	return `${lines.join('\r\n')}\r\n\r\n`;
}

/** One without workers, and one with so many. */
async function startSides(
	processes: Processes,
	folder: string,
	cores: number,
	databases: readonly string[],
): Promise<[Side, Side]> {
	const start = async (database: string | undefined, ...more: string[]): Promise<Side> => {
		const dataDir = await mkdtemp(path.join(folder, 'workers-'));
		const url = database === undefined ? [] : ['--database-url', database];
		const server = await startServer(processes, {
			args: plainArgs(dataDir, '--log-level', 'warn', ...url, ...more),
		});
		const cookie = await server.register('bench');
		const home = path.join(dataDir, 'files/users/bench');
		await mkdir(path.join(home, 'served'));
		await writeSource(path.join(home, 'served/large.bin'), fileBytes);
		await mkdir(path.join(home, 'many'));
		await emptyFiles(path.join(home, 'many'), entries);
		return { server, cookie, home };
	};
	return [await start(databases[0]), await start(databases[1], '--workers', `${cores}`)];
}

/** What a load came to: requests a second, and for each second of processor time. */
interface Rate {
	bySecond: number;
	byProcessor: number;
}

async function* compared(
	work: Work,
	sides: readonly [Side, Side],
	cores: number,
	scale: number,
	database?: number,
): AsyncGenerator<Figure> {
	const rate = async (side: Side, connections: number, ms: number): Promise<Rate> => {
		const request = await work.prepare(side);
		const pids = [...(await familyOf(side.server.pid)), ...(database === undefined ? [] : [database])];
		const used = async () => (await Promise.all(pids.map(processorSeconds))).reduce((all, each) => all + each, 0);
		const [before, begun] = [await used(), performance.now()];
		const bySecond = await answersPerSecond({ url: side.server.url, request, connections, ms: ms * scale });
		const answers = (bySecond * (performance.now() - begun)) / 1000;
		return { bySecond, byProcessor: answers / ((await used()) - before) };
	};
	for (const connections of [clients, 1]) {
		const of = connections === 1 ? 'one client alone' : `${connections} clients`;
		const [alone, several]: [Rate[], Rate[]] = [[], []];
		for (let round = 0; round <= rounds; round++) {
			// The first one does not count, in which each process compiles what is run often.
			const ms = round === 0 ? 3 * loadMs : loadMs;
			const turns = [
				async () => alone.push(await rate(sides[0], connections, ms)),
				async () => several.push(await rate(sides[1], connections, ms)),
			];
			for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
		}
		const from = (rates: readonly Rate[], of: keyof Rate) => rates.slice(1).map((each) => each[of]);
		const ratios = (of: keyof Rate) => from(several, of).map((each, n) => each / (from(alone, of)[n] ?? Number.NaN));
		const spread = (values: readonly number[]) =>
			`${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;
		const name = `${work.name}, ${of}`;
		for (const [who, rates] of [
			['one process', alone],
			[`${cores} workers`, several],
		] as const) {
			yield { name: `${name}: ${who}`, value: median(from(rates, 'bySecond')), unit: 'a second' };
			const ms = from(rates, 'byProcessor').map((each) => 1000 / each);
			yield { name: `${name}: ${who}, processor`, value: median(ms), unit: 'ms' };
		}
		const least = connections === 1 ? 0.95 : work.leastPerCore * cores;
		yield {
			name: `${name}: times the requests a second (${spread(ratios('bySecond'))})`,
			...{ value: median(ratios('bySecond')), unit: '', aim: `at least ${least}` },
		};
		yield {
			name: `${name}: times those for a second of processor (${spread(ratios('byProcessor'))})`,
			...{ value: median(ratios('byProcessor')), unit: '' },
		};
	}
}

/** A process and those that it has started. */
async function familyOf(pid: number): Promise<number[]> {
	const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
	return [pid, ...children.trim().split(' ').filter(Boolean).map(Number)];
}
