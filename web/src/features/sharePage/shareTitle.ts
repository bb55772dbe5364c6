import type { SharedView } from '../../api/sharePage.js';
import { sharePageMessages as messages } from './messages.js';

/** What the owner calls it, or else what it is. */
export function shareTitle({ title, from, only }: Pick<SharedView, 'title' | 'from' | 'only'>): string {
	return title.trim() || only?.name || messages.sharedBy(from);
}
