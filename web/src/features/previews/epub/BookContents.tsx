import type { BookContents as Contents, TocItem } from '../frame/frameMessages.js';
import { previewMessages as messages } from '../messages.js';
import styles from './EpubViewer.module.css';

export interface BookContentsProps {
	book: Contents;
	/** The chapter on screen. */
	current: string;
	onChoose: (href: string) => void;
}

/** The metadata of a book, and its table of contents. */
export function BookContents({ book, current, onChoose }: BookContentsProps) {
	const { title, creator, description, publisher, language, toc, chapters } = book;
	// A book without a table of contents still has chapters.
	const items =
		toc.length > 0 ? toc : chapters.map((href, index) => ({ label: messages.chapter(index + 1), href, items: [] }));
	return (
		<div className={styles.contents}>
			<p className={styles.title}>{title}</p>
			<p className={styles.creator}>{creator}</p>
			{description && <p className={styles.description}>{description}</p>}
			<p className={styles.details}>
				{[publisher, language].filter(Boolean).map((detail) => (
					<span key={detail}>{detail}</span>
				))}
			</p>
			<nav aria-label={messages.contents}>
				<Items items={items} current={current} onChoose={onChoose} />
			</nav>
		</div>
	);
}

interface ItemsProps {
	items: readonly TocItem[];
	current: string;
	onChoose: (href: string) => void;
}

function Items({ items, current, onChoose }: ItemsProps) {
	return (
		<ul>
			{items.map(({ label, href, items: inner }, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: it never changes
				<li key={index}>
					<button
						type="button"
						aria-current={href.split('#')[0] === current ? 'page' : undefined}
						onClick={() => onChoose(href)}
					>
						{label}
					</button>
					{inner.length > 0 && <Items items={inner} current={current} onChoose={onChoose} />}
				</li>
			))}
		</ul>
	);
}
