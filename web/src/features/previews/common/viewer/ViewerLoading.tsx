import { Spinner } from '@blueprintjs/core';
import { previewMessages as messages } from '../../messages.js';
import styles from './viewers.module.css';

/** Shown only after a moment, so that fast responses don't flicker. */
export function ViewerLoading() {
	return (
		<div className={`${styles.state} ${styles.loading}`} role="status">
			<Spinner size={28} aria-label={messages.loading} />
		</div>
	);
}
