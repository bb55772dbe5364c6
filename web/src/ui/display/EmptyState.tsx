import { shownName } from '@stowage/rules';
import type { ReactNode } from 'react';
import styles from './EmptyState.module.css';

export interface EmptyStateProps {
	icon?: ReactNode;
	title: string;
	/** `h1` if the page shows nothing else. */
	titleTagName?: 'h1' | 'h2' | 'h3';
	/** The reason, or what to do. */
	detail?: string | undefined;
	/** The message of the server or the format. */
	reason?: string | undefined;
	/** Buttons. */
	children?: ReactNode;
}

/** A centred message in place of content. */
export function EmptyState({ icon, title, titleTagName: Title = 'h2', detail, reason, children }: EmptyStateProps) {
	return (
		<div className={styles.state}>
			{icon && <div className={styles.icon}>{icon}</div>}
			<Title className={styles.title}>{shownName(title)}</Title>
			{detail !== undefined && <p className={styles.detail}>{detail}</p>}
			{reason !== undefined && <p className={styles.detail}>{shownName(reason)}</p>}
			{children && <div className={styles.actions}>{children}</div>}
		</div>
	);
}
