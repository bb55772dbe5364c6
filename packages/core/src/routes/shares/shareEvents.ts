import * as contract from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import { EventStream } from '../../events/EventStream.js';
import type { Services } from '../../services.js';
import { noNames, visitor } from './shareGuests.js';

/** The stream of a share's page: how far its downloads are. Nothing else of the server is told to guests. */
export function shareEventRoutes(services: Services) {
	const { guests, notifications, shareTransfers, streams } = services;
	const visit = visitor(services);
	return [
		route(contract.shareEvents, async (call) => {
			const { query, request, h } = call;
			const { share } = await visit(call, noNames);
			const { req, res } = request.raw;
			if (req.method === 'HEAD') return h.response().code(200).type('text/event-stream');
			let stream: EventStream | undefined;
			const end = () => stream?.end();
			const tickets = new Set(query.ticket);
			const leave = streams.enter(request, tickets, end);
			const leaveShare = shareTransfers.enter(guests.passOf(share), end);
			const unsubscribes = [...tickets].map((ticket) =>
				notifications.subscribe({ ticket }, (item) => stream?.send(item)),
			);
			const close = () => {
				leave();
				leaveShare();
				for (const unsubscribe of unsubscribes) unsubscribe();
			};
			if (req.socket.destroyed) close();
			else stream = new EventStream(res, close);
			return h.abandon;
		}),
	];
}
