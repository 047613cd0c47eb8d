export OMP_NUM_THREADS=2
for r in 1 2 3 4; do
echo default; taskset -c 0,1 /usr/bin/python3 ts.py
echo ours; LD_LIBRARY_PATH=/tmp/base /usr/bin/python3 ts.py
echo oursnosep; LOCKSTEP_CPU_SEPARATION=0 LD_LIBRARY_PATH=/tmp/base /usr/bin/python3 ts.py
done
ps -eLo pid,tid,stat,comm,pcpu --sort=-pcpu | head -8
