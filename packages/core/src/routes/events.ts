import * as contract from '@stowage/contract';
import { type Notification, type Request, route } from '@stowage/plugin-api';
import { browseDenial } from '@stowage/rules';
import { EventStream } from '../events/EventStream.js';
import { throttle } from '../events/throttle.js';
import { limitAddress } from '../http/requests/proxy.js';
import type { Services } from '../services.js';

/** Least time between two `changed` events of one stream, as between two `trash` or `shared` events. */
const spacingMs = 500;

/** The subscriptions of an open page: its folder, and the caller's jobs, tickets, trash and shared folders. */
export function eventRoutes({ files, notifications, sessions, streams }: Services) {
	return [
		route(contract.events, async ({ viewer, query, request, h }) => {
			const { type, directory } = query;
			const { req, res } = request.raw;
			let stream: EventStream | undefined;
			/** Ends it instead, once the viewer may no longer see the area: what visitors may do can change meanwhile. */
			const send = (kind: string, item: object) => {
				if (browseDenial(viewer, type) === undefined) stream?.send(kind, item);
				else stream?.end();
			};
			const changed = throttle(spacingMs, () => send('changed', { type, directory }));
			const trashChanged = throttle(spacingMs, () => send('trash', {}));
			const sharedChanged = throttle(spacingMs, () => send('shared', {}));
			const leave = streams.enter(viewerKey(request), () => stream?.end());
			let hasChanged = false;
			let hasEnded = false;
			try {
				const onChange = () => {
					if (stream === undefined) hasChanged = true;
					else changed();
				};
				const onEnd = () => {
					hasEnded = true;
					stream?.end();
				};
				const watch = await files.watch(viewer, { area: type, path: directory }, onChange, onEnd);
				const onNotification = ({ kind, ...item }: Notification) => {
					if (kind === 'trash') trashChanged();
					else if (kind === 'shared') sharedChanged();
					else send(kind, item);
				};
				const unsubscribes = [...new Set(query.ticket)].map((ticket) =>
					notifications.subscribe({ ticket }, onNotification),
				);
				if (viewer.kind === 'user') unsubscribes.push(notifications.subscribe({ userId: viewer.id }, onNotification));
				const session = sessions.keyOf(request);
				const unsubscribe = session === undefined ? () => {} : sessions.subscribe(session, () => stream?.end());
				const close = () => {
					leave();
					watch.close();
					changed.cancel();
					trashChanged.cancel();
					sharedChanged.cancel();
					unsubscribe();
					for (const unsubscribe of unsubscribes) unsubscribe();
				};
				// A HEAD request, or closed while the folder was opened.
				if (req.method === 'HEAD' || req.socket.destroyed) {
					close();
					return h.response().code(200).type('text/event-stream');
				}
				stream = new EventStream(res, close);
				if (hasChanged) changed();
				if (hasEnded) stream.end();
				return h.abandon;
			} catch (error) {
				leave();
				throw error;
			}
		}),
	];
}

/** The client that streams are counted for: a user, or visitors by their address. */
export function viewerKey({ viewer, client }: Request): string {
	return viewer.kind === 'user' ? `user ${viewer.id}` : `address ${limitAddress(client.address)}`;
}
