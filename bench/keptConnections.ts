import net from 'node:net';

/** What answers end with whose length is not said at their beginning. No JSON contains it. */
const lastChunk = '0\r\n\r\n';

interface Load {
	/** Where the server listens. */
	url: string;
	/** The bytes of the next request, head and body. */
	request(): readonly (string | Buffer)[];
	/** So many connections, each of which has its next request sent when the answer to the one before is whole. */
	connections: number;
	/** For how long requests are sent. */
	ms: number;
}

/**
 * Sends requests over connections that are kept, and resolves to how many were answered in a second. It reads of an answer no more
 * than its head, so that it leaves the processors to the server. Throws if one is not answered with success.
 */
export async function answersPerSecond({ url, request, connections, ms }: Load): Promise<number> {
	const begun = performance.now();
	const counts = await Promise.all(Array.from({ length: connections }, () => answersOf(url, request, begun + ms)));
	return (counts.reduce((all, count) => all + count, 0) * 1000) / (performance.now() - begun);
}

/** The answers of one connection until that time. */
function answersOf(url: string, request: Load['request'], until: number): Promise<number> {
	const { hostname, port } = new URL(url);
	return new Promise((resolve, reject) => {
		let count = 0;
		/** What has come of the head, until it is whole. */
		let head = '';
		/** Bytes of the body that have not come yet; undefined where the length is unknown. */
		let left: number | undefined;
		let isHeadWhole = false;
		/** The last characters of a body of unknown length. */
		let tail = '';
		const buffer = Buffer.allocUnsafe(256 * 1024);
		const socket = net.connect({
			...{ host: hostname, port: Number(port), noDelay: true },
			// One buffer for all reads: new ones would cost more than the rest.
			onread: { buffer, callback: received },
		});
		const fail = (error: Error) => {
			socket.destroy();
			reject(error);
		};
		socket.on('error', fail);
		socket.on('close', () => reject(new Error('The server closed a connection.')));
		send();

		function send(): void {
			head = '';
			tail = '';
			isHeadWhole = false;
			socket.cork();
			for (const part of request()) socket.write(part, 'latin1');
			socket.uncork();
		}

		function received(length: number): boolean {
			let at = 0;
			if (!isHeadWhole) {
				const before = head.length;
				head += buffer.toString('latin1', 0, length);
				const end = head.indexOf('\r\n\r\n');
				if (end < 0) return true;
				isHeadWhole = true;
				at = end + 4 - before;
				head = head.slice(0, end).toLowerCase();
				if (!head.startsWith('http/1.1 2')) {
					fail(new Error(`A request was answered ${head}`));
					return false;
				}
				const size = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
				left = size === undefined ? undefined : Number(size);
			}
			if (left !== undefined) left -= length - at;
			else
				tail = (tail + buffer.toString('latin1', Math.max(at, length - lastChunk.length), length)).slice(
					-lastChunk.length,
				);
			if (left === undefined ? tail !== lastChunk : left > 0) return true;
			count++;
			if (performance.now() < until) send();
			else {
				resolve(count);
				socket.destroy();
			}
			return true;
		}
	});
}
