import { openEventStream } from './eventStream.js';
import { subscribedTickets, subscribeToTicketList } from './ticketEvents.js';

let followers = 0;
let stop = () => {};

/**
 * Publishes the events of all subscribed tickets, on a page that has no stream for its folder, until the returned
 * function is called. However many follow, there is one stream, since a browser has few connections to a server.
 */
export function followTickets(urlOf: (tickets: readonly string[]) => string): () => void {
	if (followers++ === 0) stop = streamTickets(urlOf);
	let isFollowing = true;
	return () => {
		if (!isFollowing) return;
		isFollowing = false;
		if (--followers === 0) stop();
	};
}

function streamTickets(urlOf: (tickets: readonly string[]) => string): () => void {
	let close = () => {};
	const reopen = () => {
		close();
		const tickets = subscribedTickets();
		close = tickets.length === 0 ? () => {} : openEventStream([urlOf(tickets)], ignored).close;
	};
	const unsubscribe = subscribeToTicketList(reopen);
	reopen();
	return () => {
		unsubscribe();
		close();
	};
}

const nothing = () => {};
const ignored = {
	...{ onChanged: nothing, onTrash: nothing, onShared: nothing, onJob: nothing },
	...{ onReconnected: nothing, onDisconnected: nothing, isMissing: () => false },
};
