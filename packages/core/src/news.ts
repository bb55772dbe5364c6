import { EventEmitter } from 'node:events';
import type { Audience, News, NewsItem } from '@stowage/plugin-api';

/** News among the parts of this process. */
export function createNews(): News {
	const emitter = new EventEmitter();
	// A listener a page on screen: their number is bounded by the connections, not here.
	emitter.setMaxListeners(0);
	return {
		send: (audience, item) => void emitter.emit(nameOf(audience), item),
		listen(audience, hear: (item: NewsItem) => void) {
			const name = nameOf(audience);
			emitter.on(name, hear);
			return () => void emitter.off(name, hear);
		},
	};
}

function nameOf(audience: Audience): string {
	return 'userId' in audience ? `user ${audience.userId}` : `ticket ${audience.ticket}`;
}
