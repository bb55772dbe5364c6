import type { SharedView } from '../../api/sharePage.js';
import { sharePageMessages as messages } from './messages.js';

/** What the owner calls it, or else what it is. */
export function shareTitle({ title, from, only, mode }: Pick<SharedView, 'title' | 'from' | 'only' | 'mode'>): string {
	return title.trim() || only?.name || (mode === 'view' ? messages.sharedBy(from) : messages.sendTo(from));
}
