import { type StoragePath, shownName } from '@stowage/rules';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { Link } from 'react-router';
import { toolbarMessages as messages } from './messages.js';
import styles from './PathBreadcrumbs.module.css';
import { stepsTo } from './stepsTo.js';

export interface PathBreadcrumbsProps {
	directory: StoragePath;
	hrefOf: (directory: StoragePath) => string;
	/** Whether the last breadcrumb is a link out of a search. */
	isSearch: boolean;
	/** Shown beside the last breadcrumb. */
	children?: ReactNode;
}

/** The folders from the root to the one on screen. `data-directory` of each is its path, for drops. */
export function PathBreadcrumbs({ directory, hrefOf, isSearch, children }: PathBreadcrumbsProps) {
	const list = useRef<HTMLOListElement>(null);
	// A path that is too long is scrolled to its end.
	useLayoutEffect(() => {
		if (list.current && directory !== undefined) list.current.scrollLeft = list.current.scrollWidth;
	}, [directory]);
	return (
		<nav aria-label={messages.breadcrumbs} className={styles.breadcrumbs}>
			<ol ref={list}>
				{stepsTo(directory).map(({ name, path }) => (
					<li key={path}>
						<Link
							to={hrefOf(path)}
							className={styles.breadcrumb}
							data-directory={path}
							draggable={false}
							aria-current={path === directory && !isSearch ? 'page' : undefined}
							title={name.length > 24 ? shownName(name) : undefined}
						>
							{shownName(name)}
						</Link>
					</li>
				))}
			</ol>
			{children}
		</nav>
	);
}
