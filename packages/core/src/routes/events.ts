import * as contract from '@stowage/contract';
import { type NewsItem, type Request, route } from '@stowage/plugin-api';
import { EventStream } from '../events/EventStream.js';
import { spaced } from '../events/spaced.js';
import { limitAddress } from '../http/proxy.js';
import type { Services } from '../services.js';

/** Least time between two `changed` events of one stream. */
const spacingMs = 500;

/** What a page on screen hears of: its folder, and the caller's jobs and tickets. */
export function eventRoutes({ files, news, sessions, streams }: Services) {
	return [
		route(contract.events, async ({ viewer, query, request, h }) => {
			const { type, directory } = query;
			const { req, res } = request.raw;
			let stream: EventStream | undefined;
			const changed = spaced(spacingMs, () => stream?.send('changed', { type, directory }));
			const leave = streams.enter(viewerKey(request), () => stream?.end());
			let hasChanged = false;
			try {
				const watch = await files.watch(viewer, { area: type, path: directory }, () => {
					if (stream === undefined) hasChanged = true;
					else changed();
				});
				const hear = ({ kind, ...item }: NewsItem) => stream?.send(kind, item);
				const unhears = [...new Set(query.ticket)].map((ticket) => news.listen({ ticket }, hear));
				if (viewer.kind === 'user') unhears.push(news.listen({ userId: viewer.id }, hear));
				const session = sessions.keyOf(request);
				const unfollow = session === undefined ? () => {} : sessions.follow(session, () => stream?.end());
				const close = () => {
					leave();
					watch.close();
					changed.cancel();
					unfollow();
					for (const unhear of unhears) unhear();
				};
				// Only asked what it would be, or gone while the folder was opened.
				if (req.method === 'HEAD' || req.socket.destroyed) {
					close();
					return h.response().code(200).type('text/event-stream');
				}
				stream = new EventStream(res, close);
				if (hasChanged) changed();
				return h.abandon;
			} catch (error) {
				leave();
				throw error;
			}
		}),
	];
}

/** Who it is that has so many pages open: a person, or visitors by their address. */
function viewerKey({ viewer, client }: Request): string {
	return viewer.kind === 'user' ? `user ${viewer.id}` : `address ${limitAddress(client.address)}`;
}
