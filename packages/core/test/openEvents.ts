import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { App } from '../src/index.js';
import { scheduledTime, waitScheduled } from './scheduledTime.js';
import { longMs } from './until.js';

export interface PageEvent {
	event: string;
	data: Record<string, unknown>;
	/** When it arrived, by `scheduledTime()`. */
	at: number;
}

export interface OpenEvents {
	status: number;
	headers: IncomingMessage['headers'];
	events: PageEvent[];
	/** All text of the stream so far. */
	text(): string;
	/** Waits for the next event that matches. */
	next(matches: (event: PageEvent) => boolean): Promise<PageEvent>;
	/** Waits until no event has arrived for a while. */
	quiet(): Promise<void>;
	/** Waits until the server ends the stream. */
	ended(): Promise<void>;
	close(): void;
}

/** Opens an event stream as a page does. */
export const openEvents = (app: App, query: string, cookie?: string, more: Record<string, string> = {}) =>
	openStream(app, `/api/events${query}`, cookie, more);

/** The same for the address of another stream. */
export async function openStream(
	app: App,
	address: string,
	cookie?: string,
	more: Record<string, string> = {},
): Promise<OpenEvents> {
	const { hostname, port } = new URL(app.server.info.uri);
	const sent = request({
		hostname,
		port,
		path: address,
		agent: false,
		headers: {
			accept: 'text/event-stream',
			'accept-encoding': 'gzip',
			...(cookie === undefined ? {} : { cookie }),
			...more,
		},
	});
	sent.end();
	const [answer] = (await once(sent, 'response')) as [IncomingMessage];
	const events: PageEvent[] = [];
	let all = '';
	let rest = '';
	let isEnded = false;
	const waiting = new Set<() => void>();
	const wake = () => {
		for (const check of [...waiting]) check();
	};
	answer.setEncoding('utf8').on('data', (text: string) => {
		all += text;
		rest += text;
		for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
			const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(rest.slice(0, end)) ?? [];
			rest = rest.slice(end + 2);
			if (event !== undefined && data !== undefined)
				events.push({ event, data: JSON.parse(data), at: scheduledTime() });
		}
		wake();
	});
	const end = () => {
		isEnded = true;
		wake();
	};
	answer.on('end', end).on('close', end).on('error', end);
	const until = async <T>(find: () => T | undefined, name: string): Promise<T> => {
		let timer: NodeJS.Timeout | undefined;
		const timeout = new Promise<never>((_, reject) => {
			timer = setTimeout(() => reject(new Error(`Timed out waiting for ${name}: ${all}`)), longMs);
		});
		const found = new Promise<T>((resolve) => {
			const check = () => {
				const value = find();
				if (value === undefined) return;
				waiting.delete(check);
				resolve(value);
			};
			waiting.add(check);
			check();
		});
		try {
			return await Promise.race([found, timeout]);
		} finally {
			clearTimeout(timer);
		}
	};
	let seen = 0;
	return {
		status: answer.statusCode ?? 0,
		headers: answer.headers,
		events,
		text: () => all,
		next: (matches) =>
			until(() => {
				while (seen < events.length) {
					const event = events[seen++] as PageEvent;
					if (matches(event)) return event;
				}
				return undefined;
			}, 'an event'),
		async quiet() {
			// Longer than the time between two events, and than the interval at which a folder is polled.
			for (
				const begun = scheduledTime();
				scheduledTime() - (events.at(-1)?.at ?? 0) < 1800 || scheduledTime() - begun < 1800;
			)
				await waitScheduled(100);
		},
		ended: async () => void (await until(() => isEnded || undefined, 'the end')),
		close: () => sent.destroy(),
	};
}

export const isChange = ({ event }: PageEvent) => event === 'changed';
