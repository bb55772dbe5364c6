import { EventEmitter } from 'node:events';
import type { Audience, News, NewsItem } from '@stowage/plugin-api';

/** For so long whoever comes late hears where a ticket stood: a small download may have ended before its page's stream is open, or while its tab was hidden. */
const rememberedMs = 10 * 60_000;

interface Last {
	item: NewsItem;
	at: number;
}

/** News among the parts of this process. */
export function createNews(now: () => number = () => performance.now()): News {
	const emitter = new EventEmitter();
	// A listener a page on screen: their number is bounded by the connections, not here.
	emitter.setMaxListeners(0);
	/** The oldest first. */
	const lastOfTickets = new Map<string, Last>();

	const remember = (name: string, item: NewsItem) => {
		lastOfTickets.delete(name);
		lastOfTickets.set(name, { item, at: now() });
		for (const [old, { at }] of lastOfTickets) {
			if (now() - at < rememberedMs) break;
			lastOfTickets.delete(old);
		}
	};

	return {
		send(audience, item) {
			const name = nameOf(audience);
			if ('ticket' in audience) remember(name, item);
			emitter.emit(name, item);
		},
		listen(audience, hear: (item: NewsItem) => void) {
			const name = nameOf(audience);
			let isListening = true;
			const last = lastOfTickets.get(name);
			// Once the listener is ready for it.
			if (last !== undefined) queueMicrotask(() => isListening && hear(last.item));
			emitter.on(name, hear);
			return () => {
				isListening = false;
				emitter.off(name, hear);
			};
		},
	};
}

function nameOf(audience: Audience): string {
	return 'userId' in audience ? `user ${audience.userId}` : `ticket ${audience.ticket}`;
}
