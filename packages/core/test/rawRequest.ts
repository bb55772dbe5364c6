import { connect, type Socket } from 'node:net';
import type { App } from '../src/index.js';

/** What came back on a raw connection, and how it ended. */
export interface RawAnswer {
	text: string;
	status: number;
	/** Milliseconds from the request until the first byte of the answer. */
	answeredAfter: number;
}

export function addressOf(app: App): { host: string; port: number } {
	return { host: '127.0.0.1', port: Number(new URL(app.server.info.uri).port) };
}

/** Writes a request as it is, then as much of `body` as is taken, until the connection ends or `lastMs` are over. */
export function rawRequest(
	app: App,
	head: string,
	body?: { chunk: Buffer; most: number },
	lastMs = 8000,
): Promise<RawAnswer> {
	return new Promise((resolve) => {
		const started = Date.now();
		let text = '';
		let answeredAfter = Number.NaN;
		let sent = 0;
		const socket: Socket = connect(addressOf(app), () => {
			socket.write(head);
			const pump = () => {
				while (body !== undefined && sent < body.most && socket.writable) {
					sent += body.chunk.length;
					if (!socket.write(body.chunk)) return;
				}
			};
			socket.on('drain', pump);
			pump();
		});
		const end = () => {
			clearTimeout(timer);
			socket.destroy();
			resolve({
				text,
				status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0),
				answeredAfter,
			});
		};
		const timer = setTimeout(end, lastMs);
		socket.on('data', (data) => {
			if (text === '') answeredAfter = Date.now() - started;
			text += data.toString('latin1');
		});
		socket.on('error', () => {}).on('close', end);
	});
}

/** Sends requests on one connection and cuts it as soon as something comes back. */
export function cutAfterFirstBytes(app: App, text: string): Promise<void> {
	return new Promise((resolve) => {
		const socket = connect(addressOf(app), () => socket.write(text));
		socket.once('data', () => socket.destroy());
		socket.on('error', () => {}).on('close', () => resolve());
	});
}
