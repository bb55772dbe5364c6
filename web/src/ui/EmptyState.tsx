import type { ReactNode } from 'react';
import styles from './EmptyState.module.css';

export interface EmptyStateProps {
	icon?: ReactNode;
	title: string;
	/** `h1` where it is all that the page shows. */
	titleTagName?: 'h1' | 'h2';
	/** Why, or what to do about it. */
	detail?: string;
	/** What can be done. */
	children?: ReactNode;
}

/** A calm sentence in the middle, where there would be content. */
export function EmptyState({ icon, title, titleTagName: Title = 'h2', detail, children }: EmptyStateProps) {
	return (
		<div className={styles.state}>
			{icon && <div className={styles.icon}>{icon}</div>}
			<Title className={styles.title}>{title}</Title>
			{detail !== undefined && <p className={styles.detail}>{detail}</p>}
			{children && <div className={styles.actions}>{children}</div>}
		</div>
	);
}
