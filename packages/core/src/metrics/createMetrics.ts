import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Server } from '@hapi/hapi';
import type { Services } from '../services.js';
import { collect } from './collect.js';
import { countRequests } from './countRequests.js';
import { contentType, Exposition } from './exposition.js';

/** Metrics for Prometheus, at an address of their own. Nothing is counted unless this was called. */
export interface Metrics {
	/** Begins to listen. Resolves to the address, such as `http://127.0.0.1:9464/metrics`. */
	listen(): Promise<string>;
	close(): Promise<void>;
}

const maxConnections = 16;

export function createMetrics(server: Server, services: Services): Metrics {
	const { config, log } = services;
	const { host, port } = addressOf(config.metrics.listen);
	const exposition = new Exposition();
	const counted = countRequests(server, config.basePath, exposition);
	const eventLoop = monitorEventLoopDelay({ resolution: 20 });
	/** Several that read at once get the same. */
	let reading: Promise<string> | undefined;
	const read = () => {
		reading ??= collect(services, { ...counted, eventLoop })
			.then((collected) => exposition.text(collected))
			.finally(() => {
				reading = undefined;
			});
		return reading;
	};

	const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
		const end = (status: number, type: string, text: string, headers = {}) =>
			response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff', ...headers }).end(text);
		if (request.url?.split('?', 1)[0] !== '/metrics')
			return void end(404, 'text/plain', 'There is only /metrics here.\n');
		if (request.method !== 'GET') return void end(405, 'text/plain', 'Only GET.\n', { allow: 'GET' });
		end(200, contentType, await read());
	};
	const listener = http.createServer({ requestTimeout: 10_000, headersTimeout: 5000 }, (request, response) => {
		answer(request, response).catch((error: unknown) => {
			log.error({ err: error }, 'the metrics could not be read');
			response.writeHead(500).end();
		});
	});
	listener.maxConnections = maxConnections;

	return {
		async listen() {
			listener.listen(port, host);
			await once(listener, 'listening');
			eventLoop.enable();
			const { address, family, port: actual } = listener.address() as AddressInfo;
			return `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}/metrics`;
		},
		async close() {
			eventLoop.disable();
			if (!listener.listening) return;
			const closed = once(listener, 'close');
			listener.close();
			listener.closeAllConnections();
			await closed;
		},
	};
}

/** The parts of `127.0.0.1:9464` or `[::1]:9464`, as the schema has let it through. */
function addressOf(listen: string): { host: string; port: number } {
	const at = listen.lastIndexOf(':');
	return { host: listen.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(listen.slice(at + 1)) };
}
