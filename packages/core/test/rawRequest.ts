import { connect, type Socket } from 'node:net';
import type { App } from '../src/index.js';
import { longMs } from './until.js';

/** The response on a raw connection, and how the connection ended. */
export interface RawAnswer {
	text: string;
	status: number;
	/** Whether the connection was closed before the timeout. */
	isClosedByServer: boolean;
}

export function addressOf(app: App): { host: string; port: number } {
	return { host: '127.0.0.1', port: Number(new URL(app.server.info.uri).port) };
}

/** Writes a request unchanged, then as much of `body` as the connection accepts, until it closes or `timeoutMs` have passed. */
export function rawRequest(
	app: App,
	head: string,
	body?: { chunk: Buffer; most: number },
	timeoutMs = longMs,
): Promise<RawAnswer> {
	return new Promise((resolve) => {
		let text = '';
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
		const end = (isClosedByServer: boolean) => {
			clearTimeout(timer);
			socket.destroy();
			resolve({
				text,
				status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0),
				isClosedByServer,
			});
		};
		const timer = setTimeout(end, timeoutMs, false);
		socket.on('data', (data) => {
			text += data.toString('latin1');
		});
		socket.on('error', () => {}).on('close', () => end(true));
	});
}

/** Sends requests on one connection and destroys it at the first bytes of a response. */
export function cutAfterFirstBytes(app: App, text: string): Promise<void> {
	return new Promise((resolve) => {
		const socket = connect(addressOf(app), () => socket.write(text));
		socket.once('data', () => socket.destroy());
		socket.on('error', () => {}).on('close', () => resolve());
	});
}
