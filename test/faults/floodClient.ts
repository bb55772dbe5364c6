import { once } from 'node:events';
import { type RequestOptions, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

// A program: `floodClient.js <flood> <url> <seconds> <cookie>`. At its end it prints the number of answers by status.

const [, , flood = '', url = '', seconds = '0', cookie = ''] = process.argv;
const { hostname, port } = new URL(url);
/** Another address than the honest client's, or both would share its limits. */
const localAddress = '127.0.0.2';
const end = performance.now() + Number(seconds) * 1000;
const isOver = () => performance.now() >= end;

const statuses = new Map<string, number>();
function count(status: string | number | undefined): void {
	statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1);
}

/** One call, whose answer is read and dropped. */
async function call(method: string, path: string, headers: RequestOptions['headers'], body: Buffer): Promise<void> {
	const sent = request({ hostname, port, path, method, localAddress, agent: false, headers });
	const refused = once(sent, 'error').then(() => 'broken');
	sent.end(body);
	const answered = once(sent, 'response').then(async ([answer]) => {
		answer.resume();
		await once(answer, 'close');
		return answer.statusCode;
	});
	count(await Promise.race([answered, refused]));
	answered.catch(() => {});
	// Unread bytes would fill the kernel's memory, which this program shares with the server only here.
	sent.socket?.resetAndDestroy();
	sent.destroy();
}

const post = (path: string, payload: unknown, isSignedIn = false) =>
	call(
		'POST',
		path,
		{ 'content-type': 'application/json', ...(isSignedIn ? { cookie } : {}) },
		Buffer.from(JSON.stringify(payload)),
	);

/** Runs `work` in a loop in each lane until the time is over. */
async function repeat(lanes: number, work: (lane: number) => Promise<void>): Promise<void> {
	const begin = async (lane: number) => {
		while (!isOver()) {
			await work(lane).catch(() => count('broken'));
			// Refusals are immediate: the server is measured, not how fast this program spins.
			await wait(1);
		}
	};
	await Promise.race([
		Promise.all(Array.from({ length: lanes }, (_, lane) => begin(lane))),
		wait(end - performance.now()),
	]);
}

function open(): Socket {
	return connect({ host: hostname, port: Number(port), localAddress }).on('error', () => count('broken'));
}

const nested = Array.from({ length: 1000 }, (_, n) => ({ path: `deep${'/deep'.repeat(n % 20)}`, owner: null }));

const floods: Record<string, () => Promise<void>> = {
	roots: () =>
		repeat(20, () =>
			post('/api/downloadZip', { files: Array(1000).fill({ path: '' }), type: 'public', directory: '' }),
		),
	nested: () => repeat(20, () => post('/api/downloadZip', { files: nested, type: 'public', directory: '' })),
	pipelines: () =>
		repeat(25, async () => {
			const socket = open().pause();
			const ended = once(socket, 'close');
			socket.write('GET /api/download/large.bin HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(40));
			await Promise.race([ended, wait(2000)]);
			count(socket.destroyed ? 'closed by the server' : 'held');
			socket.destroy();
		}),
	bodies: () => {
		const body = Buffer.alloc(15_000_000, ' ');
		return repeat(120, (lane) =>
			call(
				'POST',
				'/api/downloadZip',
				{ 'content-type': 'application/json', 'content-length': body.length, ...(lane % 2 === 0 ? { cookie } : {}) },
				body,
			),
		);
	},
	tickets: () => {
		const files = Array.from({ length: 1000 }, (_, n) => ({ path: `many/${n}.txt`, owner: null }));
		return repeat(16, (lane) => post('/api/downloadTickets', { files, type: 'public', directory: '' }, lane % 2 === 0));
	},
	names: () => {
		// A thousand of one name are refused, so the name changes.
		let round = 0;
		return repeat(8, () => {
			const name = `same ${Math.floor(round++ / 9)}.txt`;
			const part = `--x\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\nsame\r\n`;
			const body = Buffer.from(`${part.repeat(100)}--x--\r\n`);
			return call('POST', '/api/upload', { 'content-type': 'multipart/form-data; boundary=x', cookie }, body);
		});
	},
	signIns: () =>
		repeat(90, (lane) =>
			post('/api/login', { username: 'mallory', password: lane % 2 === 0 ? 'correct horse' : 'wrong guess' }),
		),
};

await floods[flood]?.();
console.log(JSON.stringify(Object.fromEntries(statuses)));
process.exit(0);
