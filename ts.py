import torch,time,os,sys
torch.set_num_threads(2); torch.manual_seed(1)
a=torch.rand(512,512)
for i in range(40): torch.softmax(a,1)
def go(f,n):
    t=[]
    for _ in range(n):
        b=time.perf_counter(); f(); t.append((time.perf_counter()-b)*1e6)
    return t
t=go(lambda:a.sum(1),300)
print(' '.join('%.0f'%x for x in t[:60]), '| slow:', [(i,round(x)) for i,x in enumerate(t) if x>60])
