import * as contract from '@stowage/contract';
import { type Notification, route } from '@stowage/plugin-api';
import { browseDenial } from '@stowage/rules';
import { EventStream, type StreamEvent } from '../events/EventStream.js';
import { throttle } from '../events/throttle.js';
import type { Services } from '../services.js';
import { onPermissionEnd } from './files/whilePermitted.js';

/** Least time between two `changed` events of one stream, as between two `trash` or `shared` events. */
const spacingMs = 500;

/** The subscriptions of an open page: its folder, and the caller's jobs, tickets, trash and shared folders. */
export function eventRoutes(services: Services) {
	const { files, notifications, streams } = services;
	return [
		route(contract.events, async ({ viewer, query, request, h }) => {
			const { type, directory } = query;
			const { req, res } = request.raw;
			let stream: EventStream | undefined;
			/** Ends it instead, once the viewer may no longer see the area: what visitors may do can change meanwhile. */
			const send = (event: StreamEvent) => {
				if (browseDenial(viewer, type) === undefined) stream?.send(event);
				else stream?.end();
			};
			const changed = throttle(spacingMs, () => send({ kind: 'changed', type, directory }));
			const trashChanged = throttle(spacingMs, () => send({ kind: 'trash' }));
			const sharedChanged = throttle(spacingMs, () => send({ kind: 'shared' }));
			const tickets = new Set(query.ticket);
			let hasChanged = false;
			let hasEnded = false;
			const onEnd = () => {
				hasEnded = true;
				stream?.end();
			};
			const leave = streams.enter(request, tickets, onEnd);
			try {
				const onChange = () => {
					if (stream === undefined) hasChanged = true;
					else changed();
				};
				const watch = await files.watch(viewer, { area: type, path: directory }, onChange, onEnd);
				const onNotification = (item: Notification) => {
					if (item.kind === 'trash') trashChanged();
					else if (item.kind === 'shared') sharedChanged();
					else send(item);
				};
				const unsubscribes = [...tickets].map((ticket) => notifications.subscribe({ ticket }, onNotification));
				if (viewer.kind === 'user') unsubscribes.push(notifications.subscribe({ userId: viewer.id }, onNotification));
				const unsubscribe = onPermissionEnd(services, request, () => stream?.end());
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
