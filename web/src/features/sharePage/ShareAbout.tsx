import { formatDate, formatTime, shownName } from '@stowage/rules';
import type { SharedView } from '../../api/sharePage.js';
import { sharePageMessages as messages } from './messages.js';
import styles from './ShareAbout.module.css';
import { namesOwner, shareTitle } from './shareTitle.js';

/** What is shared, by whom, and for how long. */
export function ShareAbout({ share }: { share: SharedView }) {
	const { from, message, mode, expiresAt, isLimited } = share;
	return (
		<header className={styles.about}>
			<h1 className={styles.title}>{shownName(shareTitle(share))}</h1>
			<p className={styles.facts}>
				{!namesOwner(share) && (
					<span>
						{mode === 'upload' ? messages.to : messages.from} <strong className={styles.from}>{from}</strong>
					</span>
				)}
				{expiresAt !== null && <span>{messages.until(formatDate(expiresAt), formatTime(expiresAt))}</span>}
				{isLimited && <span>{messages.limited}</span>}
			</p>
			{message.trim() !== '' && (
				// biome-ignore lint/a11y/noNoninteractiveTabindex: a long one scrolls by the keyboard
				<p className={styles.message} tabIndex={0}>
					{message}
				</p>
			)}
		</header>
	);
}
