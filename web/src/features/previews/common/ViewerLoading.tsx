import { Spinner } from '@blueprintjs/core';
import { previewMessages as messages } from '../messages.js';
import styles from './viewers.module.css';

/** Shows itself after a moment only, so that what comes at once does not flicker. */
export function ViewerLoading() {
	return (
		<div className={`${styles.state} ${styles.loading}`} role="status">
			<Spinner size={28} aria-label={messages.loading} />
		</div>
	);
}
