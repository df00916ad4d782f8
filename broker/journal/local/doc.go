// Package local is the journal in files of one folder. An append is one write
// into a preallocated file and a sync is one fdatasync, whatever the number of
// partitions behind it.
//
// The layout of files and entries is drawn in layout.go. What it promises:
//
//   - Appended entries survive a crash of the process (they are in the page
//     cache), synced ones survive power loss.
//   - After a failed write or sync the journal is stopped for good: nobody
//     knows what is on the disk, and trying again would hide it. Reading goes
//     on.
//   - A full disk is not that: the partial write is cut off again, and later
//     appends may succeed.
//   - Opening cuts a torn tail, which was never synced, and only that. Every
//     entry says up to where the journal was durable when it was written, so
//     that damage before that point is told from a torn tail and reported as
//     journal.ErrCorrupt. Only in entries after the last such statement (the
//     last synced group) is bit rot taken for a torn tail, if it also lies
//     behind the checkpoint that Open is given.
//   - Opening writes the entries after that point again before it syncs: they
//     may come from a process whose sync failed, which leaves pages in memory
//     that look clean and are not on the disk.
//
// One process at a time has the folder, by a lock file. Append, Sync and Close
// take the lock "write"; readers take only a short look at the list of
// segments under the lock "mu", and read outside of it. Lock order: write,
// then trim, then mu. The package starts no goroutines.
//
// Files are preallocated with fallocate and not with zeros (2026-11): zeros would
// make a sync of 25 KB about 0.2 ms faster, as no extents are converted, but
// write every byte twice and hold up each new file for 50 ms and more.
//
// Limits: Options.EntryBytesMax for each entry, and Options.SegmentBytes for a
// file, unless a single append is larger.
package local
